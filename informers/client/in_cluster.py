"""The API server of the pod that we run in, by its service account."""

import os
from collections.abc import Mapping
from pathlib import Path

from informers.api.errors import ConfigurationError
from informers.client.config import ServerConfig
from informers.client.renewing import SYSTEM_CLOCK
from informers.client.tls import Pem, TlsContexts, Trust
from informers.client.token_file import TokenFile
from informers.clock import Clock

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod finds its token, the server's authorities, and its namespace."""


def service_account(folder: Path = FOLDER, *, clock: Clock = SYSTEM_CLOCK) -> TokenFile:
    """Return credentials that follow the token and the authorities in the folder as they are replaced."""
    tls = TlsContexts(Trust(Pem(path=str(folder / "ca.crt"))), clock=clock)
    return TokenFile(str(folder / "token"), tls, clock=clock)


def is_in_cluster(environment: Mapping[str, str] = os.environ) -> bool:
    """Say whether we run in a pod that is told of its API server."""
    return bool(environment.get("KUBERNETES_SERVICE_HOST") and environment.get("KUBERNETES_SERVICE_PORT"))


def in_cluster(environment: Mapping[str, str] = os.environ, folder: Path = FOLDER) -> ServerConfig:
    """Return the configuration of the pod; raises `ConfigurationError` outside of one."""
    if not is_in_cluster(environment):
        raise ConfigurationError(
            "expected KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT as in a pod, found them unset"
        )
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment["KUBERNETES_SERVICE_PORT"]
    host = f"[{host}]" if ":" in host else host
    if not (folder / "token").is_file():
        raise ConfigurationError(
            f"expected a service account's token in {folder / 'token'}, found no such file; "
            "does the pod set automountServiceAccountToken: false?"
        )
    return ServerConfig(
        f"https://{host}:{port}", service_account(folder), namespace=_namespace(folder), source="service account"
    )


def _namespace(folder: Path) -> str:
    try:
        return (folder / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        return ""  # as kubectl does: without a namespace of its own there is none to prefer
