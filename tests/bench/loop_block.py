"""How long the embedded server's loop is held at worst: 30,000 objects, with a list, a re-list and a fan-out at once.

The process under test is `python -m kcpctl run` with `loop_controller` in it. The list is a client's, over TLS, of all
ConfigMaps; the re-list is that of an informer inside; the fan-out is a second Shard, which changes the status of 3,000
APIExportEndpointSlices. Prints one JSON line.
"""

import asyncio
import json
import tempfile
from asyncio import TaskGroup
from pathlib import Path

from tests.bench.api import Api, Body, connected
from tests.bench.kcpctl_process import running
from tests.bench.load import CONFIGMAPS, SLICES, fill, shard, workspace
from tests.bench.loop_controller import NAME
from tests.bench.programs import ROOT

OBJECTS = 30_000
FANNED_OUT = 3_000
_CONTROLLER = ROOT / "tests/bench/loop_controller.py"
_SECOND = "https://second.example.com:6443"
_WITHIN = 120.0


async def phase(api: Api) -> Body:
    """Return what the measuring controller has written."""
    data: Body = (await api.read(f"{CONFIGMAPS}/{NAME}"))["data"]
    return data


async def until(api: Api, wanted: str) -> Body:
    """Wait until the measuring controller has come so far."""
    async with asyncio.timeout(_WITHIN):
        while (found := await phase(api))["phase"] != wanted:
            await asyncio.sleep(0.02)
    return found


async def measure(api: Api, root: Api) -> dict[str, float]:
    """Have the loop measured while everything happens at once."""
    asked = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"phase": "begin"}}
    await api.send("POST", CONFIGMAPS, asked)
    await until(api, "measuring")
    async with TaskGroup() as group:
        group.create_task(api.send("GET", CONFIGMAPS))
        group.create_task(fan_out(api, root))
    await api.send("PATCH", f"{CONFIGMAPS}/{NAME}", {"data": {"phase": "end"}})
    found = await until(api, "measured")
    return {"loop_block_ms": float(found["block_ms"]), "loop_work_ms": float(found["work_ms"])}


async def fan_out(api: Api, root: Api) -> None:
    """Add a shard, and wait until every slice lists its URL."""
    await root.send("POST", *shard("second", _SECOND))
    last = f"{SLICES}/widgets-{FANNED_OUT - 1:04d}"
    async with asyncio.timeout(_WITHIN):
        while _SECOND.encode() not in await api.send("GET", last):
            await asyncio.sleep(0.05)
        while (await api.send("GET", SLICES)).count(_SECOND.encode()) < FANNED_OUT:
            await asyncio.sleep(0.2)


async def _measured(data_dir: Path) -> dict[str, float]:
    async with connected(data_dir / "admin.kubeconfig") as api:
        return await measure(api, api.at("/clusters/root"))


def main() -> None:
    """Fill a server, start it anew with the controller in it, and measure."""
    with tempfile.TemporaryDirectory() as place:
        data_dir = Path(place)
        with running(data_dir):
            fill(data_dir, workspace(OBJECTS, FANNED_OUT))
        with running(data_dir, str(_CONTROLLER), "--with-builtin"):
            print(json.dumps(asyncio.run(_measured(data_dir))))


if __name__ == "__main__":
    main()
