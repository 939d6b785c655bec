"""Settings come from flags, variables, a file or defaults, in this order, and say where from."""

import re
from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.cli import run_command
from kcpctl.settings import CacheSettings, RunSettings, resolve


def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('port = 1\nshard-name = "file"\ngrace = 1.5\n')
    environ = {"KCPCTL_CONFIG": str(file), "KCPCTL_PORT": "2", "KCPCTL_SHARD_NAME": "variable"}

    found = resolve(RunSettings, {"port": "3"}, environ)

    assert (found.settings.port, found.settings.shard_name, found.settings.grace) == (3, "variable", 1.5)
    assert found.settings.bind_address == "127.0.0.1"
    assert [str(found.origins[n]) for n in ("port", "shard_name", "grace", "bind_address")] == [
        "flag --port",
        "environment KCPCTL_SHARD_NAME",
        f"file {file}",
        "default",
    ]


def test_every_setting_is_shown_with_its_origin(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run_command(["run", "--print-config", "--shard-label", "a=b", "--shard-label", "c=d", "--no-deprecated-urls"])
        == 0
    )

    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["--shard-label"] == ["a=b,c=d", "flag", "--shard-label"]
    assert lines["--deprecated-urls"] == ["false", "flag", "--deprecated-urls"]
    assert lines["--data-dir"] == [".kcpctl", "default"]


def test_one_file_serves_all_commands(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('shard-name = "amber"\nport = 7\n')

    assert resolve(CacheSettings, {"config": str(file)}, {}).settings.port == 7


@pytest.mark.parametrize("command", [["status"], ["workspace", "create", "root:team"]])
def test_commands_find_their_process_as_it_found_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    def asked(*flags: str) -> str:
        assert run_command([*command, *flags]) == 2
        found = re.search(r"expected a running kcpctl in (\S+), ", capsys.readouterr().err)
        assert found
        return found[1]

    (tmp_path / "kcpctl.toml").write_text('data-dir = "of-file"\nport = 7\n')
    monkeypatch.chdir(tmp_path)

    assert asked() == ".kcpctl"
    assert asked("--config", "kcpctl.toml") == "of-file"
    monkeypatch.setenv("KCPCTL_CONFIG", "kcpctl.toml")
    assert asked() == "of-file"
    monkeypatch.setenv("KCPCTL_DATA_DIR", "of-variable")
    assert asked() == "of-variable"
    assert asked("--data-dir", "of-flag") == "of-flag"


@pytest.mark.parametrize(
    ("flags", "environ", "told"),
    [
        ({"port": "x"}, {}, "expected a whole number for --port, found 'x'"),
        ({"port": "1.5"}, {}, "expected a whole number for --port, found '1.5'"),
        ({"grace": "nan"}, {}, "expected a number for --grace, found 'nan'"),
        ({}, {"KCPCTL_GRACE": "inf"}, "expected a number for --grace, found 'inf' .environment KCPCTL_GRACE"),
        ({"data_dir": ""}, {}, "expected a text for --data-dir, found ''"),
        ({"bind_address": ""}, {}, "expected a text for --bind-address, found ''"),
        ({"port": "70000"}, {}, "expected a number from 0 to 65535 for --port, found '70000'"),
        (
            {},
            {"KCPCTL_GRACE": "-1"},
            "expected a number that is not negative for --grace, found '-1' .environment KCPCTL_GRACE",
        ),
        ({}, {"KCPCTL_IN_MEMORY": "maybe"}, "expected true or false for --in-memory, found 'maybe'"),
        ({}, {"KCPCTL_LOG_FORMAT": "xml"}, "expected one of console, json for --log-format, found 'xml'"),
        ({"config": "/nowhere.toml"}, {}, "expected a settings file at /nowhere.toml"),
    ],
)
def test_a_wrong_value_is_one_line_with_its_origin(flags: dict[str, str], environ: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as caught:
        resolve(RunSettings, flags, environ)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot = 1", "sets 'prot', which is no setting"),
        ("port = ", "expected TOML in"),
        ('port = "7"', "expected a whole number, without quotes, for --port, found '7' .file"),
        ("port = true", "expected a whole number, without quotes, for --port, found True .file"),
        ("port = 7.9", "expected a whole number, without quotes, for --port, found 7.9 .file"),
        ("port = 7.0", "expected a whole number, without quotes, for --port, found 7.0 .file"),
        ("port = 70000", "expected a number from 0 to 65535 for --port, found 70000 .file"),
        ("grace = true", "expected a number, without quotes, for --grace, found True .file"),
        ('grace = "5"', "expected a number, without quotes, for --grace, found '5' .file"),
        ('in-memory = "yes"', "expected true or false, without quotes, for --in-memory, found 'yes' .file"),
        ("in-memory = 1", "expected true or false, without quotes, for --in-memory, found 1 .file"),
        ("verbose = true", "expected a whole number, without quotes, for --verbose, found True .file"),
        ("data-dir = 7", "expected a text, in quotes, for --data-dir, found 7 .file"),
        ("log-format = []", "expected a text, in quotes, for --log-format, found .. .file"),
        ("grace = nan", "expected a number for --grace, found nan .file"),
        ("shard-label = [1]", "expected a list of texts for --shard-label"),
        ("shard-label = 5", "expected a list of texts, such as .*, for --shard-label, found 5 .file"),
        (
            'shard-label = "region=eu"',
            "expected a list of texts, such as .*, for --shard-label, found 'region=eu' .file",
        ),
        ('shard-label = {region = "eu"}', "expected a list of texts, such as .*, for --shard-label"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)

    with pytest.raises(ConfigurationError, match=told):
        resolve(RunSettings, {"config": str(file)}, {})


def test_a_wrong_setting_ends_the_process_with_code_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["cache", "--print-config", "--port", "many"]) == 2

    assert capsys.readouterr().err == "kcpctl: expected a whole number for --port, found 'many' (flag --port)\n"


SAMPLE = re.compile(r"# kcpctl.toml\n(.*?)\n\n", re.DOTALL)


def test_the_readmes_file_and_its_lists_are_read_as_they_stand(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    sample = SAMPLE.search(readme)
    assert sample
    file = tmp_path / "kcpctl.toml"
    file.write_text(sample[1])

    found = resolve(RunSettings, {"config": str(file)}, {})

    assert sum(origin.kind == "file" for origin in found.origins.values()) == len(sample[1].splitlines())
    listed = re.search(r"KCPCTL_SHARD_LABEL=(\S+?)`", readme)
    assert listed
    assert (
        resolve(RunSettings, {}, {"KCPCTL_SHARD_LABEL": listed[1]}).settings.shard_label == found.settings.shard_label
    )


def test_a_variable_that_is_no_setting_is_one_line_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("KCPCTL_PROT", "KCPCTL_ZZZ", "KCPCTL_SHARD_NAME", "OTHER_PORT"):
        monkeypatch.setenv(name, "7")

    assert run_command(["cache", "--print-config"]) == 0

    assert capsys.readouterr().err.splitlines() == [
        "kcpctl: the variable KCPCTL_PROT is no setting and changes nothing (did you mean KCPCTL_PORT?)",
        "kcpctl: the variable KCPCTL_ZZZ is no setting and changes nothing",
    ]
