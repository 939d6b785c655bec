"""From a kubeconfig's user to credentials."""

import base64
import os
from typing import Any

from informers.api.errors import ConfigurationError
from informers.client.credentials import Anonymous, BasicPassword, BearerToken, Credentials
from informers.client.exec_plugin import GROUP, VERSIONS, ExecPlugin, Interaction, Plugin
from informers.client.oidc import Issuer, Oidc
from informers.client.sections import Section
from informers.client.tls import TlsContexts, Trust
from informers.client.token_file import TokenFile


def credentials(user: Section, cluster: Section) -> Credentials:
    """Return what the user authenticates with, and the cluster's TLS settings with it.

    Of several ways the first counts: exec plugin, auth provider, token file (with the token beside it while the file
    cannot be read), token, name and password. A client certificate goes with all of them.
    """
    _refuse_impersonation(user)
    tls = _tls(user, cluster)
    if "exec" in user:
        return ExecPlugin(_plugin(user.section("exec"), cluster), tls)
    if "auth-provider" in user:
        return _oidc(user.section("auth-provider"), tls)
    if "tokenFile" in user:
        return TokenFile(user.path("tokenFile"), tls, otherwise=user.text("token"))
    if "token" in user:
        return BearerToken(user.text("token"), tls)
    if "username" in user:
        return BasicPassword(user.text("username"), user.text("password"), tls)
    return Anonymous(tls)


def _tls(user: Section, cluster: Section) -> TlsContexts:
    authorities = cluster.pem("certificate-authority")
    insecure = cluster.flag("insecure-skip-tls-verify")
    if authorities and insecure:
        raise ConfigurationError(
            f"expected either a certificate-authority or insecure-skip-tls-verify in {cluster.place}, found both"
        )
    certificate, key = user.pem("client-certificate"), user.pem("client-key")
    if bool(certificate) != bool(key):
        raise ConfigurationError(f"expected client-certificate with client-key in {user.place}, found one of them")
    return TlsContexts(Trust(authorities, insecure), certificate, key)


def _plugin(declared: Section, cluster: Section) -> Plugin:
    version = declared.needed("apiVersion")
    if version not in VERSIONS:
        raise ConfigurationError(
            f"expected apiVersion {' or '.join(VERSIONS)} in {declared.place}, found {version}; update the plugin"
        )
    command = declared.needed("command")
    if os.path.basename(command) != command:
        command = declared.path("command")
    return Plugin(
        command,
        version,
        tuple(str(argument) for argument in declared.items("args")),
        _environment(declared),
        _interaction(declared),
        declared.text("installHint"),
        _cluster_info(cluster) if declared.flag("provideClusterInfo") else None,
    )


def _environment(declared: Section) -> dict[str, str]:
    entries = [Section(e, what=f"env of {declared.what}", file=declared.file) for e in declared.items("env")]
    return {entry.needed("name"): entry.text("value") for entry in entries}


def _interaction(declared: Section) -> Interaction:
    found = declared.text("interactiveMode") or Interaction.IF_AVAILABLE
    try:
        return Interaction(found)
    except ValueError:
        raise ConfigurationError(
            f"expected interactiveMode {', '.join(Interaction)} in {declared.place}, found {found}"
        ) from None


def _cluster_info(cluster: Section) -> dict[str, Any]:
    """Return what a plugin may know of the cluster, under the names that ExecCredential gives it."""
    info: dict[str, Any] = {name: cluster.text(name) for name in ("server", "tls-server-name", "proxy-url")}
    info["insecure-skip-tls-verify"] = cluster.flag("insecure-skip-tls-verify")
    info["certificate-authority-data"] = _base64(cluster.pem("certificate-authority").read())
    for extension in cluster.items("extensions"):
        if isinstance(extension, dict) and extension.get("name") == f"{GROUP}/exec":
            info["config"] = extension.get("extension")
    return {name: value for name, value in info.items() if value}


def _oidc(declared: Section, tls: TlsContexts) -> Oidc:
    name = declared.text("name")
    if name != "oidc":
        raise ConfigurationError(
            f"expected an auth-provider 'oidc' in {declared.place}, found {name!r}, which Kubernetes has dropped; "
            "use its exec plugin"
        )
    config = declared.section("config")
    issuer = Issuer(
        config.needed("idp-issuer-url"),
        config.needed("client-id"),
        config.text("client-secret"),
        Trust(config.pem("idp-certificate-authority")),
    )
    return Oidc(issuer, tls, id_token=config.text("id-token"), refresh_token=config.text("refresh-token"))


def _refuse_impersonation(user: Section) -> None:
    found = [name for name in user.names if name == "as" or name.startswith("as-")]
    if found:
        raise ConfigurationError(
            f"expected a user who acts as himself in {user.place}, found {', '.join(found)}; impersonation is not built"
        )


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
