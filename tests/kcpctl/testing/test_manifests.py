"""Manifests are dicts, text, files and folders; what is none is named."""

from pathlib import Path
from typing import Any

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.testing.manifests import read_manifests

ONE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
TWO = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}}
TEXT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
---
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: two}}
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (ONE, [ONE]),
        ([ONE, TWO], [ONE, TWO]),
        (TEXT, [ONE, TWO]),
        ({"apiVersion": "v1", "kind": "List", "items": [ONE, TWO]}, [ONE, TWO]),
        ("", []),
    ],
)
def test_objects_come_in_the_order_given(source: Any, expected: list[Any]) -> None:
    assert read_manifests(source) == expected


def test_a_folders_manifests_come_in_the_order_of_its_files_names(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: two}}")
    (tmp_path / "a.json").write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}')
    (tmp_path / "notes.txt").write_text("not for us")

    assert read_manifests(tmp_path) == [ONE, TWO]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("examples/team/crds.yaml", "expected objects in the text, found 'examples/team/crds.yaml'; for a file pass a"),
        ("a: [", "expected YAML in the text"),
        ([["a"]], "expected objects in the argument, found"),
        ({"kind": "ConfigMap", "metadata": {"name": "one"}}, "expected apiVersion in each object of the argument"),
        ({"apiVersion": "v1", "metadata": {"name": "one"}}, "expected kind in each object"),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "expected metadata in each object"),
        (Path("/nowhere/at-all.yaml"), "expected a file with manifests at /nowhere/at-all.yaml"),
    ],
)
def test_what_is_no_manifest_is_named_in_one_line(source: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        read_manifests(source)


def test_an_empty_folder_and_a_malformed_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"expected manifests \(\*.yaml, \*.yml, \*.json\) in .*, found none"):
        read_manifests(tmp_path)

    (tmp_path / "bad.yaml").write_text("- 1\n")
    with pytest.raises(ConfigurationError, match=r"expected objects in .*bad\.yaml, found \[1\]"):
        read_manifests(tmp_path)
