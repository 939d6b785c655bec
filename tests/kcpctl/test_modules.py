"""Controllers are found by module, module:name, path.py and path.py:name; what is not is named in one line."""

import importlib
import sys
from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.modules import find_controllers

SOURCE = """
from informers.api.resources import Resource
from informers.runtime.controller import controller

THINGS = Resource("example.com", "v1", "things")


@controller(THINGS)
async def first(thing, cluster):
    return None


@controller(THINGS)
async def second(thing, cluster):
    return None


both = [first, second]
number = 3
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "things.py").write_text(SOURCE)
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("x = 1\nraise KeyError('y')\n")
    (tmp_path / "crooked.py").write_text("def (:\n")
    (tmp_path / "misdeclared.py").write_text(SOURCE + "\n@controller(THINGS, workers=0)\nasync def third(a, b): ...\n")
    (tmp_path / "borrowing.py").write_text("import json\n\njson.loads('{')\n")
    (tmp_path / "informers_of_mine.py").write_text("raise KeyError('mine')\n")
    (tmp_path / "wordy.py").write_text("raise ValueError('two\\nlines')\n")
    (tmp_path / "needy.py").write_text("import nowhere_to_be_found\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "things.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *sys.path])
    monkeypatch.setattr("sys.modules", dict(sys.modules))
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("things.py", ["first", "second"]),
        ("things.py:second", ["second"]),
        ("things.py:both", ["first", "second"]),
        ("things", ["first", "second"]),
        ("things:first", ["first"]),
    ],
)
def test_controllers_are_found(name: str, expected: list[str]) -> None:
    assert [c.name for c in find_controllers([name])] == expected


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "names",
    [
        ("things:first", "things"),
        ("things.py:first", "things.py"),
        ("things", "./things.py:second"),
        ("things.py", "things:second"),
        ("below.things", "below/things.py", "below/../below/things.py:first"),
    ],
)
def test_a_controller_that_is_named_twice_runs_once(names: tuple[str, ...]) -> None:
    assert [c.name for c in find_controllers(names)] == ["first", "second"]


@pytest.mark.parametrize("name", ["controllers", "queue", "json"])
def test_a_file_that_is_called_like_a_module_does_not_take_its_place(here: Path, name: str) -> None:
    theirs = importlib.import_module(name)
    (here / f"{name}.py").write_text(SOURCE)

    found = find_controllers([f"{name}.py", f"{name}.py:first"])

    assert [c.name for c in found] == ["first", "second"]
    assert importlib.import_module(name) is theirs


def test_files_of_one_name_in_two_folders_are_two_modules(here: Path) -> None:
    (here / "below" / "things.py").write_text(SOURCE.replace("first", "third").replace("second", "fourth"))

    assert [c.name for c in find_controllers(["things.py", "below/things.py"])] == [
        "first",
        "second",
        "third",
        "fourth",
    ]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "expected a module or a path.py, found no module 'nowhere'; from here it would be nowhere.py"),
        ("nowhere.py", "expected a file with controllers at nowhere.py, found none"),
        ("empty.py", "expected controllers in empty.py, found none; decorate an async function"),
        (
            "things:third",
            "expected a controller 'third' in things, found nothing of that name; controllers there: first, second",
        ),
        ("things:number", "expected a controller 'number' in things, found a int"),
        ("broken.py", r"expected to import broken.py, but it raises KeyError: 'y' \(.*broken.py:2\)"),
        ("crooked.py", r"expected to import crooked.py, but it raises SyntaxError.*crooked.py:1\)"),
        ("misdeclared.py", r"^controller 'third': expected at least 1 worker, found 0 \(.*misdeclared.py:21\)$"),
        ("borrowing.py", r"raises JSONDecodeError: .*\(.*borrowing.py:3\)$"),
        ("informers_of_mine.py", r"raises KeyError: 'mine' \(.*informers_of_mine.py:1\)$"),
        ("wordy.py", r"raises ValueError: two lines \("),
        ("needy", r"expected to import needy, but it raises ModuleNotFoundError.*nowhere_to_be_found.*needy.py:1\)"),
    ],
)
def test_what_is_wrong_is_one_line(name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as caught:
        find_controllers([name])

    assert "\n" not in str(caught.value)
