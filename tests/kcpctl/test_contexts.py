"""The administrator's kubeconfig: a context for each workspace, and what was chosen in it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from kcpctl.apiserver.http.certs import Certificates
from kcpctl.contexts import ADMIN_FILE, Choice, chosen, write_shard

URL = "https://127.0.0.1:6443"


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "certificates", now=lambda: datetime(2030, 1, 1, tzinfo=UTC))


def written(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def test_each_workspace_is_a_context_and_all_of_them_are_one(tmp_path: Path, certificates: Certificates) -> None:
    config = written(write_shard(tmp_path, URL, ["root:example", "root"], certificates))

    assert {one["name"]: one["cluster"]["server"] for one in config["clusters"]} == {
        "root": f"{URL}/clusters/root",
        "root:example": f"{URL}/clusters/root:example",
        "all": f"{URL}/clusters/*",
    }
    assert config["current-context"] == "root:example"


def test_what_was_chosen_is_written_again_while_it_is_there(tmp_path: Path, certificates: Certificates) -> None:
    choice = Choice("all", {"root": "kube-system", "gone": "default"})

    write_shard(tmp_path, URL, ["root:example"], certificates, choice=choice)
    again = chosen(tmp_path)
    gone = written(write_shard(tmp_path, URL, [], certificates, choice=Choice("root:gone")))

    assert again == Choice("all", {"root": "kube-system", "root:example": "", "all": ""})
    assert gone["current-context"] == "root"


@pytest.mark.parametrize("text", [None, "", "[", "[]", "contexts: 5", "contexts: [{}]", "{}"])
def test_of_a_file_that_is_something_else_nothing_was_chosen(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / ADMIN_FILE).write_text(text)

    assert chosen(tmp_path) == Choice()
