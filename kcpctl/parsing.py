"""A parser whose errors are one line each, with the word that was probably meant."""

import argparse
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

_CHOICE = re.compile(r"invalid choice: '([^']+)' \(")


class Parser(argparse.ArgumentParser):
    """argparse's, without the usage in front of each error: what is wrong would be lost below twenty flags."""

    def __init__(self, *, allow_abbrev: bool = False, **options: Any) -> None:
        """Take argparse's options; a flag is its whole name, so that one that is added later breaks no script."""
        super().__init__(allow_abbrev=allow_abbrev, **options)

    def error(self, message: str) -> NoReturn:
        """End with a line that says what is wrong and where help is."""
        if found := _CHOICE.search(message):
            message += meant(found[1], (str(choice) for action in self._actions for choice in action.choices or ()))
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def leave_to(self, parent: "Parser") -> None:
        """Leave what both take, and is not said here, as it was said to the parent: argparse would overwrite that."""
        shared = {action.dest for action in parent._actions}  # noqa: SLF001 - of the same class
        for action in self._actions:
            if action.dest in shared:
                action.default = argparse.SUPPRESS

    def refuse(self, argument: str) -> NoReturn:
        """End with a line about an argument that nobody knows."""
        name = argument.partition("=")[0]
        flags = (flag for action in self._actions for flag in action.option_strings)
        self.error(f"there is no {name}{meant(name, flags)}")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no public name


def meant(word: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return ` (did you mean …?)` with the word that is closest, as it is shown, if one is close."""
    close = get_close_matches(word, known, n=1)
    return f" (did you mean {shown(close[0])}?)" if close else ""
