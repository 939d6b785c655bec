"""Asking our servers what was asked of a real kcp."""

from dataclasses import dataclass

from informers.client.transport import Request, Response
from tests.integration.golden.likeness import in_older_form
from tests.integration.golden.recording import Moment
from tests.integration.golden.stage import Stage
from tests.integration.objects import JSON
from tests.kcpctl.apiserver.replaying import Replay


async def ask(stage: Stage, moment: Moment) -> JSON:
    """Return our answer to a recorded request, which is asked in the form of 0.11 and in our names."""
    asked = stage.translated(in_older_form(moment.record["req"]))
    path = asked["path"].replace("apis.kcp.io/v1alpha2", "apis.kcp.io/v1alpha1")
    server, path = stage.address(moment.record["server"], path, asked.get("body"))
    pair = {"req": asked | {"path": path}, "resp": moment.record["resp"]}
    return await Replay(_Line(stage, server), stage.site.clock).answer(pair)


@dataclass
class _Line:
    """A transport to one server of a stage."""

    stage: Stage
    server: str

    async def send(self, request: Request) -> Response:
        """Carry a request there."""
        return await self.stage.send(self.server, request)

    async def aclose(self) -> None:
        """Do nothing: the stage keeps what is open."""
