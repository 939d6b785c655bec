"""Kubeconfig files that we write."""

import base64
import stat
from pathlib import Path

import yaml

from kcpctl.apiserver.http.keypair import KeyPair
from kcpctl.apiserver.http.kubeconfig_out import KubeContext, write_kubeconfig


def test_a_kubeconfig_leads_to_every_context_with_one_identity(tmp_path: Path) -> None:
    path = tmp_path / "admin.kubeconfig"
    contexts = [KubeContext("root", "https://h:1/clusters/root"), KubeContext("all", "https://h:1/clusters/*", "ns")]

    for current in ("all", "root"):
        write_kubeconfig(path, contexts, current, authority=b"CA", client=KeyPair(b"CERT", b"KEY"), user="admin")

    found = yaml.safe_load(path.read_text())
    assert found["current-context"] == "root"
    assert {c["name"]: c["context"].get("namespace") for c in found["contexts"]} == {"root": None, "all": "ns"}
    assert {c["name"]: c["cluster"]["server"] for c in found["clusters"]} == {
        "root": "https://h:1/clusters/root",
        "all": "https://h:1/clusters/*",
    }
    assert base64.b64decode(found["clusters"][0]["cluster"]["certificate-authority-data"]) == b"CA"
    assert base64.b64decode(found["users"][0]["user"]["client-key-data"]) == b"KEY"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
