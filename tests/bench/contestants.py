"""Who is measured: our informer, and those of others."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench.programs import BUILD, ROOT, Missing, run
from tests.bench.replay import CONFIGMAPS, SLICES

_GO = ROOT / "tests/foreign/go/bin"
_OFFICIAL = BUILD / "bench-venv"
_OFFICIAL_PACKAGE = "kubernetes==37.0.2"


@dataclass(frozen=True)
class Informer:
    """One informer, and how it is started."""

    name: str
    program: Callable[[], list[str]]
    """Gives the command without what depends on the server; raises `Missing`."""
    events: int = 0
    """How many events it shall consume; the slow ones are spared some. 0 is for those that are asked for none."""
    path: str = SLICES
    server: tuple[str, ...] = ()
    """Options of the replay server."""
    go: bool = False

    def command(self, url: str, events: int, options: Sequence[str]) -> list[str]:
        """Return the whole command line against the server; raises `Missing`."""
        mine = [*self.program(), *options]
        if self.go:
            return [*mine, "-server", url, "-events", str(events), "-start", f"{url}/start?events={events}"]
        return [*mine, "--server", url, "--path", self.path, "--events", str(events)]


def go_program(name: str) -> list[str]:
    """Return the command of a program of the Go module; raises `Missing` until it is built."""
    program = _GO / name
    if not program.exists():
        raise Missing(f"{program.relative_to(ROOT)} is not built; make foreign-build says why")
    return [str(program)]


def _module(name: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, "-m", name]


def _official() -> list[str]:
    """Return the command of the official client's informer, in an environment that is made on first use."""
    interpreter = str(_OFFICIAL / "bin/python")
    marker = _OFFICIAL / _OFFICIAL_PACKAGE
    if not marker.exists():
        run([sys.executable, "-m", "venv", str(_OFFICIAL)])
        run([interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _OFFICIAL_PACKAGE])
        marker.touch()
    return [interpreter, "-m", "tests.bench.official_informer"]


def _client_go(name: str, *options: str, events: int = 0) -> Informer:
    return Informer(name, lambda: [*go_program("informerbench"), *options], events, go=True)


OURS = Informer("ours", _module("tests.bench.ours_sync"), 100_000)
OURS_PAGED = Informer("ours, without WatchList", OURS.program, server=("--no-watchlist",))
CLIENT_GO_TYPED = _client_go("client-go typed", "-kind", "typed", events=100_000)
CLIENT_GO_TYPED_COLLECTED = _client_go("client-go typed, after a GC", "-kind", "typed", "-collect")
CLIENT_GO_TYPED_STREAMED = _client_go("client-go typed, WatchList", "-kind", "typed", "-list", "watchlist")
CLIENT_GO_DYNAMIC = _client_go("client-go dynamic", "-kind", "dynamic", events=100_000)
CLIENT_GO_DYNAMIC_STREAMED = _client_go("client-go dynamic, WatchList", "-kind", "dynamic", "-list", "watchlist")
DICTS = Informer("dicts by hand", _module("tests.bench.dict_informer"), 20_000)
ASYNCIO_WATCH = Informer("kubernetes-asyncio Watch", _module("tests.bench.asyncio_watch"), 20_000)
OFFICIAL = Informer("kubernetes.informer (ConfigMaps)", _official, 5_000, path=CONFIGMAPS)
