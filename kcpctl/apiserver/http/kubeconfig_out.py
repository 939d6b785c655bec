"""Kubeconfig files for people: one server's certificates, one user, and the contexts to choose from."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kcpctl.apiserver.http import yamlout
from kcpctl.apiserver.http.keypair import KeyPair
from kcpctl.apiserver.http.privatefiles import write_private


class KubeContext(msgspec.Struct, frozen=True):
    """One context: a name to choose it by, and the address that it leads to."""

    name: str
    address: str
    """Such as `https://127.0.0.1:6443/clusters/root`."""
    namespace: str = ""


def write_kubeconfig(
    path: Path, contexts: Sequence[KubeContext], current: str, *, authority: bytes, client: KeyPair, user: str
) -> None:
    """Write a kubeconfig (mode 0600, in one step) that trusts the authority (PEM) and names one user."""
    write_private(path, yamlout.dump(_kubeconfig(contexts, current, authority, client, user)))


def _kubeconfig(
    contexts: Sequence[KubeContext], current: str, authority: bytes, client: KeyPair, user: str
) -> dict[str, Any]:
    credentials = {"client-certificate-data": _base64(client.certificate), "client-key-data": _base64(client.key)}
    trusted = _base64(authority)
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": c.name, "cluster": {"server": c.address, "certificate-authority-data": trusted}} for c in contexts
        ],
        "contexts": [{"name": c.name, "context": _context(c, user)} for c in contexts],
        "current-context": current,
        "users": [{"name": user, "user": credentials}],
    }


def _context(context: KubeContext, user: str) -> dict[str, str]:
    chosen = {"cluster": context.name, "user": user}
    return chosen | ({"namespace": context.namespace} if context.namespace else {})


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
