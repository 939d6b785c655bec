"""Manifests as tests write them: dicts, YAML text, files and folders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from informers.api.errors import ConfigurationError

Manifest: TypeAlias = Mapping[str, Any]
"""One object to make: apiVersion, kind, metadata and what the kind has besides."""
Manifests: TypeAlias = Manifest | str | Path | Sequence[Manifest]
"""An object, several, their YAML or JSON text, or a file or folder (*.yaml, *.yml, *.json) with it."""

_ENDINGS = frozenset((".yaml", ".yml", ".json"))
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_manifests(source: Manifests) -> list[dict[str, Any]]:
    """Return the objects, in order; a folder's files by name, and a List as its items.

    Raises `ConfigurationError` for what is no object, naming the file where there is one.
    """
    if isinstance(source, Path):
        return [obj for file in _files(source) for obj in _parsed(_text_of(file), str(file))]
    if isinstance(source, str):
        return list(_parsed(source, "the text"))
    documents = [source] if isinstance(source, Mapping) else source
    return list(_objects(documents, "the argument"))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS)
    if not found:
        raise ConfigurationError(f"expected manifests (*.yaml, *.yml, *.json) in {path}, found none")
    return found


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"expected a file with manifests at {file}: {error}") from error


def _parsed(text: str, where: str) -> Iterator[dict[str, Any]]:
    try:
        documents = [document for document in yaml.load_all(text, _Loader) if document is not None]
    except yaml.YAMLError as error:
        raise ConfigurationError(f"expected YAML in {where}: {error}") from error
    yield from _objects(documents, where)


def _objects(documents: Iterable[Any], where: str) -> Iterator[dict[str, Any]]:
    for document in documents:
        if not isinstance(document, Mapping):
            hint = "; for a file pass a Path" if isinstance(document, str) else ""
            raise ConfigurationError(f"expected objects in {where}, found {document!r}{hint}")
        if document.get("kind") == "List":
            yield from _objects(document.get("items") or (), where)
            continue
        missing = [name for name in ("apiVersion", "kind", "metadata") if not document.get(name)]
        if missing:
            raise ConfigurationError(f"expected {missing[0]} in each object of {where}, found {dict(document)!r}")
        yield dict(document)
