"""Find the controllers that the command line names: module, module:name, path.py or path.py:name."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from informers.api.errors import ConfigurationError
from informers.runtime.controller import Controller
from kcpctl.places import place_of


def find_controllers(names: Iterable[str]) -> list[Controller[Any]]:
    """Return the controllers of all the names, in order, each once.

    Raises `ConfigurationError` in one line: what was looked for, where, and what was found instead.
    """
    found: dict[int, Controller[Any]] = {}
    for name in names:
        for controller in _find(name):
            found[id(controller)] = controller
    return list(found.values())


def _find(name: str) -> list[Controller[Any]]:
    place, _, attribute = name.partition(":")
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    if attribute:
        return _named(module, place, attribute)
    found = [value for value in vars(module).values() if isinstance(value, Controller)]
    if not found:
        raise ConfigurationError(
            f"expected controllers in {place}, found none; decorate an async function of (object, cluster) with "
            "@informers.controller(RESOURCE)"
        )
    return found


def _named(module: ModuleType, place: str, attribute: str) -> list[Controller[Any]]:
    value = getattr(module, attribute, None)
    values = value if isinstance(value, (list, tuple)) else [value]
    if values and all(isinstance(item, Controller) for item in values):
        return list(values)
    known = [key for key, item in vars(module).items() if isinstance(item, Controller)]
    what = "nothing of that name" if value is None else f"a {type(value).__name__}"
    raise ConfigurationError(
        f"expected a controller {attribute!r} in {place}, found {what}; controllers there: {', '.join(known) or 'none'}"
    )


def _load_module(name: str) -> ModuleType:
    if sys.path[:1] != [""] and "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # the console script does not look into the current folder, python -m does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            file = name.replace(".", "/") + ".py"
            raise ConfigurationError(
                f"expected a module or a path.py, found no module {name!r}; from here it would be {file}"
            ) from error
        raise _broken(name, error) from error
    except Exception as error:  # the user's module may raise anything
        raise _broken(name, error) from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigurationError(f"expected a file with controllers at {path}, found none")
    whole = path.resolve()
    if (known := _loaded_from(whole)) is not None:
        return known
    name = path.stem if path.stem not in sys.modules else str(whole)  # a queue.py may not be everybody's queue
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"expected a Python file at {path}, found something that cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and models look their module up
    sys.path.insert(0, str(whole.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's module may raise anything
        raise _broken(str(path), error) from error
    return module


def _loaded_from(path: Path) -> ModuleType | None:
    """Return the module of a file that has been imported, by whatever name."""
    for name, module in list(sys.modules.items()):
        if name.rpartition(".")[2] == path.stem or name == str(path):
            file = getattr(module, "__file__", None)
            if file and Path(file).resolve() == path:
                return module
    return None


def _broken(place: str, error: Exception) -> ConfigurationError:
    """Name the line in the author's own code that is wrong; what it declares wrongly is told as it is."""
    at = f"{error.filename}:{error.lineno}" if isinstance(error, SyntaxError) else place_of(error)
    where, said = f" ({at})" if at else "", " ".join(str(error).split())
    if isinstance(error, ConfigurationError):
        return ConfigurationError(f"{said}{where}")
    return ConfigurationError(f"expected to import {place}, but it raises {type(error).__name__}: {said}{where}")
