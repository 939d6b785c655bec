"""Settings: flags first, then KCPCTL_* variables, then a TOML file, then defaults; and where each came from.

A command's settings are one frozen dataclass; the parser, the variables' names and the file's keys are derived from it.
"""

import argparse
import dataclasses
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

from informers.api.errors import ConfigurationError
from kcpctl.parsing import meant

S = TypeVar("S", bound="Place")

DATA_DIR = Path(".kcpctl")
CACHE_DATA_DIR = Path(".kcpctl-cache")


def setting(default: Any, text: str, *, choices: Sequence[str] = (), metavar: str = "", short: str = "") -> Any:
    """Declare a setting: its default, the line that --help shows, and what else its flag needs."""
    extra = {"text": text, "choices": tuple(choices), "metavar": metavar, "short": short}
    return dataclasses.field(default=default, metadata=extra)


@dataclass(frozen=True, kw_only=True)
class Place:
    """What every command has: the data directory, which also tells processes apart."""

    data_dir: Path = setting(DATA_DIR, "where state, certificates and kubeconfigs are kept", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class Common(Place):
    """What every command that serves has."""

    port: int = setting(6443, "port to listen on; 0 picks a free one")
    bind_address: str = setting("127.0.0.1", "address to listen on", metavar="ADDRESS")
    in_memory: bool = setting(False, "keep no state: everything but certificates is gone at the end")
    verbose: int = setting(0, "more log lines; twice for even more", short="-v")
    log_format: str = setting("console", "how log lines look", choices=("console", "json"))


@dataclass(frozen=True, kw_only=True)
class RunSettings(Common):
    """`kcpctl run`: a shard, its cache server and the controllers."""

    shard_name: str = setting("root", "this shard's name", metavar="NAME")
    shard_base_url: str = setting(
        "", "URL that other shards reach this one by; default: where it listens", metavar="URL"
    )
    shard_external_url: str = setting("", "URL that users reach it by; default: the base URL", metavar="URL")
    shard_virtual_workspace_url: str = setting(
        "", "URL under which its virtual workspaces are published; default: the base URL", metavar="URL"
    )
    shard_label: tuple[str, ...] = setting((), "label of this shard's Shard; repeatable", metavar="KEY=VALUE")
    kubeconfig: str = setting("", "use the server of this kubeconfig in place of the embedded shard", metavar="FILE")
    context: str = setting("", "context of --kubeconfig; default: its current one", metavar="NAME")
    cache_kubeconfig: str = setting("", "use this cache server in place of the embedded one", metavar="FILE")
    grace: float = setting(10.0, "seconds that running reconciles have to finish after Ctrl-C", metavar="SECONDS")
    with_builtin: bool = setting(False, "run the built-in controllers beside the ones named on the command line")
    slice_controller: str = setting(
        "auto",
        "the endpoint slice controller: auto leaves it off where kcp runs its own; force runs it alone there",
        choices=("auto", "force", "off"),
    )
    removal_settle: float = setting(
        2.0,
        "seconds that the deletion of another shard's Shard or APIExport has to stand before its URLs go",
        metavar="SECONDS",
    )
    deprecated_urls: bool = setting(True, "keep APIExport.status.virtualWorkspaces; without, it is removed")


@dataclass(frozen=True, kw_only=True)
class ServeSettings(Common):
    """`kcpctl serve`: an API server alone."""


@dataclass(frozen=True, kw_only=True)
class CacheSettings(Common):
    """`kcpctl cache`: a cache server as its own process."""

    port: int = setting(6443, "port to listen on; 0 picks a free one")
    data_dir: Path = setting(CACHE_DATA_DIR, "where state, certificates and kubeconfigs are kept", metavar="DIR")


@dataclass(frozen=True)
class Origin:
    """Where a setting's value came from: `flag`, `environment`, `file` or `default`, and its exact name there."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True)
class Resolved(Generic[S]):
    """The settings of one command, and the origin of each."""

    settings: S
    origins: Mapping[str, Origin]

    def shown(self) -> str:
        """Return one line for each setting: name, value, origin."""
        rows = [(flag(f.name), _text(getattr(self.settings, f.name)), str(self.origins[f.name])) for f in _fields(self)]
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        return "\n".join(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {origin}" for name, value, origin in rows)


def _fields(resolved: "Resolved[Any]") -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(resolved.settings)


def flag(name: str) -> str:
    """Return a setting's flag."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """Return a setting's environment variable."""
    return "KCPCTL_" + name.upper()


def add_flags(parser: argparse.ArgumentParser, kind: type[Place]) -> None:
    """Give the parser one flag for each setting of this dataclass, plus --config and --print-config."""
    for field in dataclasses.fields(kind):
        names = [n for n in (field.metadata["short"], flag(field.name)) if n]
        text = field.metadata["text"].replace("%", "%%")
        default = _text(field.default)
        shown = f"{text} ({variable(field.name)}; default {default})" if default else f"{text} ({variable(field.name)})"
        options: dict[str, Any] = {"dest": field.name, "default": None, "help": shown}
        if field.type is bool:
            parser.add_argument(*names, action=argparse.BooleanOptionalAction, **options)
        elif field.metadata["short"]:
            parser.add_argument(*names, action="count", **options)
        elif get_origin(field.type) is tuple:
            parser.add_argument(*names, action="append", metavar=field.metadata["metavar"], **options)
        else:
            choices = field.metadata["choices"] or None
            metavar = None if choices else field.metadata["metavar"] or field.name.upper()
            parser.add_argument(*names, choices=choices, metavar=metavar, **options)
    parser.add_argument("--config", metavar="FILE", help="TOML file with settings (KCPCTL_CONFIG)")
    parser.add_argument("--print-config", action="store_true", help="show each setting and where it came from, and end")


def resolve(kind: type[S], flags: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Resolved[S]:
    """Return the settings from parsed flags, variables, the file and defaults.

    Raises `ConfigurationError` in one line that names the setting, its origin and what was expected.
    """
    path = flags.get("config") or environ.get("KCPCTL_CONFIG") or ""
    file = _read_file(Path(path), kind) if path else {}
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for field in dataclasses.fields(kind):
        if flags.get(field.name) is not None:
            found, origin = flags[field.name], Origin("flag", flag(field.name))
        elif variable(field.name) in environ:
            found, origin = environ[variable(field.name)], Origin("environment", variable(field.name))
        elif field.name in file:
            found, origin = file[field.name], Origin("file", path)
        else:
            found, origin = field.default, Origin("default")
        values[field.name] = _converted(field, found, origin)
        origins[field.name] = origin
    return Resolved(kind(**values), origins)


def _read_file(path: Path, kind: type[Place]) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"expected a settings file at {path}, found none that can be read: {error.strerror}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"expected TOML in {path}: {error}") from error
    known = {f.name for f in dataclasses.fields(kind)}
    named = {key.replace("-", "_"): value for key, value in found.items()}
    if unknown := sorted(named.keys() - _every_setting()):
        raise ConfigurationError(
            f"{path} sets {unknown[0]!r}, which is no setting; known are {', '.join(sorted(known))}"
        )
    return {key: value for key, value in named.items() if key in known}


def _every_setting() -> set[str]:
    return {f.name for kind in (RunSettings, ServeSettings, CacheSettings) for f in dataclasses.fields(kind)}


def strays(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each variable that looks like a setting of ours and is none."""
    known = {"config", *_every_setting()}
    for name in sorted(environ.keys() - set(map(variable, known))):
        if name.startswith("KCPCTL_"):
            close = meant(name.removeprefix("KCPCTL_").lower(), known, variable)
            yield f"the variable {name} is no setting and changes nothing{close}"


_TRUTH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def _converted(field: "dataclasses.Field[Any]", found: Any, origin: Origin) -> Any:
    """Return the value in the setting's type."""

    def wrong(expected: str) -> ConfigurationError:
        return ConfigurationError(f"expected {expected} for {flag(field.name)}, found {found!r} ({origin})")

    kind = field.type
    if origin.kind == "file" and (expected := _expected(kind, found)):
        raise wrong(expected)
    if kind is bool:
        truth = _TRUTH.get(str(found).lower())
        if truth is None:
            raise wrong("true or false")
        return truth
    if kind in (int, float):
        number = _number(kind, found)
        if number is None:
            raise wrong("a number" if kind is float else "a whole number")
        if number < 0 or (field.name == "port" and number > 65535):
            raise wrong("a number from 0 to 65535" if field.name == "port" else "a number that is not negative")
        return number
    if get_origin(kind) is tuple:
        items = _items(found, origin)
        if items is None or not all(isinstance(item, get_args(kind)[0]) for item in items):
            raise wrong("a list of texts")
        return tuple(item for item in items if item)
    if not isinstance(found, (str, Path)) or (not str(found) and field.default):
        raise wrong("a text")
    if field.metadata["choices"] and found not in field.metadata["choices"]:
        raise wrong(f"one of {', '.join(field.metadata['choices'])}")
    return Path(found) if kind is Path else str(found)


def _expected(kind: Any, found: object) -> str:
    """Return what a file would have to say in place of a value of another type; "" where the type is right."""
    if kind is bool:
        return "" if isinstance(found, bool) else "true or false, without quotes,"
    if kind in (int, float):
        fits = isinstance(found, int | kind) and not isinstance(found, bool)
        return "" if fits else f"{'a number' if kind is float else 'a whole number'}, without quotes,"
    if get_origin(kind) is tuple:
        return "" if isinstance(found, list) else 'a list of texts, such as ["a", "b"],'
    return "" if isinstance(found, str) else "a text, in quotes,"


def _number(kind: type[int] | type[float], found: object) -> int | float | None:
    """Return a number of that type; None for what is none, for truths, and for what would lose something."""
    if isinstance(found, bool) or not isinstance(found, (str, int, float)):
        return None
    try:
        number = kind(found)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and (isinstance(found, str) or number == found) else None


def _items(found: object, origin: Origin) -> list[Any] | None:
    """Return the items of a list; None for what is none. One text is a list, with commas where it is a variable."""
    if isinstance(found, str):
        return found.split(",") if origin.kind == "environment" else [found]
    return list(found) if isinstance(found, (list, tuple)) else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value) if value not in ("", None) else ""
