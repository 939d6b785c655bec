"""The real CRD server of the Go module, as a process that tests start, stop and start again."""

import json
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

BIN = Path(__file__).parent / "go/bin"
_ENDS_WITHIN = 20.0


@dataclass(frozen=True)
class CrdServer:
    """A server that is ready."""

    url: str
    data_dir: Path
    kubeconfig: Path

    @property
    def port(self) -> int:
        """The port that it listens on; starting over it again keeps the kubeconfig valid."""
        port = urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        """The bearer token of its only user, who may do everything."""
        return (self.data_dir / "token").read_text().strip()

    @property
    def trust(self) -> ssl.SSLContext:
        """TLS settings that trust it."""
        return ssl.create_default_context(cafile=str(self.data_dir / "certificates/apiserver.crt"))


@contextmanager
def crd_server(data_dir: Path, *options: str, port: int = 0) -> Iterator[CrdServer]:
    """Run the server over the directory beside the block; skips the test until the server is built.

    Options are those of the Go program, such as `-watch-cache=false` and `-compact=2s`.
    """
    program = BIN / "crdserver"
    if not program.exists():
        pytest.skip("the Go programs are not built; `make foreign-build` builds them, or says why not")
    data_dir.mkdir(exist_ok=True)
    kubeconfig = data_dir / "kubeconfig"
    command = [str(program), "-port", str(port), "-data-dir", str(data_dir), "-kubeconfig-out", str(kubeconfig)]
    log = data_dir / "log"
    with log.open("a") as said, subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=said) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, f"the CRD server did not start; it said: {log.read_text()[-2000:]}"
            yield CrdServer(json.loads(line)["url"], data_dir, kubeconfig)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(_ENDS_WITHIN)
