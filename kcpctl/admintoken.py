"""The administrator's bearer token: for programs that would rather send a header than show a certificate."""

from pathlib import Path

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.http.privatefiles import write_private
from kcpctl.datadir import writing

TOKEN_FILE = "admin.token"

_SHORTEST = 32
"""Characters; less could be guessed."""


def kept_token(folder: Path) -> str:
    """Return the token that the folder keeps, making one (mode 0600) where there is none.

    Raises `ConfigurationError` for a file that holds something else.
    """
    path = folder / TOKEN_FILE
    try:
        found = path.read_bytes().strip()
    except FileNotFoundError:
        return _new_token(path)
    except OSError as error:
        raise ConfigurationError(f"expected to read {path}, but: {error.strerror}") from error
    if len(found) < _SHORTEST or not all(0x21 <= byte <= 0x7E for byte in found):
        raise ConfigurationError(
            f"expected a token of at least {_SHORTEST} printable characters without spaces in {path}, found "
            f"{len(found)} bytes of something else; delete that file to have a new one made"
        )
    return found.decode("ascii")


def _new_token(path: Path) -> str:
    import secrets  # only the first start needs it

    token = secrets.token_urlsafe(32)
    with writing(path.parent):
        write_private(path, token.encode() + b"\n")
    return token
