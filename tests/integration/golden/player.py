"""Plays a recording on a stage, moment by moment, and says of each step how ours differed."""

import re
from contextlib import AsyncExitStack
from typing import Any

from informers.tasks import background
from tests.integration.golden.asking import ask
from tests.integration.golden.casting import DONE, not_played
from tests.integration.golden.differences import Differences
from tests.integration.golden.likeness import comparable, differing, in_older_form, in_short, unlike, wish
from tests.integration.golden.recording import Moment, moments
from tests.integration.golden.stage import CACHE, Stage
from tests.integration.golden.watching import Happening, Pair, Shown, Watched, name_of, watch_request
from tests.integration.objects import JSON

CALM = 1.0
"""Seconds without a request after which what kcp showed was its answer to the last one."""
_STEPS = ("call", "note", "watch-end")
_KINDS = ("APIExport", "APIExportEndpointSlice", "Partition", "Shard")


class Player:
    """Plays one recording."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.found = Differences()
        self._stage = stage
        self._clock = stage.site.clock
        self._moments = moments(name)
        self._lists: dict[str, list[JSON]] = {}
        self._watches: dict[str, Pair] = {}
        self._bodies: dict[str, Any] = {}
        self._beside = AsyncExitStack()

    async def play(self) -> Differences:
        """Play all of it; as much time passes between two moments as did then."""
        self.found.begin("before", DONE)
        async with self._beside:
            now = last = 0.0
            for moment in self._moments:
                if moment.kind in _STEPS and moment.at - last >= CALM:
                    self._compare_all()
                await self._clock.advance(moment.at - now)
                now = moment.at
                last = now if moment.kind in _STEPS else last
                await self._act(moment)
                await self._clock.run_until_idle()
            self._compare_all()
        return self.found

    async def _act(self, moment: Moment) -> None:
        match moment.kind:
            case "call":
                await self._call(moment)
            case "note":
                await self._note(moment)
            case "relist":
                self._lists[moment.id] = moment.record["items"]
            case "watch-open":
                await self._open(moment)
            case "watch-event":
                await self._event(moment)
            case "watch-end":
                self._end(moment)

    # Requests

    async def _call(self, moment: Moment) -> None:
        reason = not_played(moment)
        self.found.begin(moment.id, f"not played [{reason}]" if reason else "equal")
        if reason:
            return
        theirs, ours = in_older_form(moment.record["resp"]), await ask(self._stage, moment)
        self._bodies[moment.id] = ours["body"]
        if theirs["status"] != ours["status"]:
            self.found.say(f"expected {in_short(theirs)}, found {in_short(ours)}")
        else:
            self.found.say(*unlike(*(self._outline(answer) for answer in (theirs, ours))))
            copy = moment.record["server"] == CACHE
            mine = self._objects(ours["body"], copy)
            for name, obj in self._objects(theirs["body"], copy).items():
                self._compare(name, obj, mine.pop(name, None), answered=True)
            for name, obj in mine.items():
                self._compare(name, None, obj, answered=True)
        await self._follow_up(moment)

    async def _follow_up(self, moment: Moment) -> None:
        """Give a shard the URL that somebody wrote into its Shard: it is a setting of its process here."""
        body = moment.record["req"].get("body") or {}
        if moment.method == "PATCH" and "virtualWorkspaceURL" in body.get("spec", {}):
            shard = moment.path.rpartition("/")[2]
            await self._stage.stop(shard)
            await self._stage.start(shard, url=body["spec"]["virtualWorkspaceURL"])
            self.found.say(f"made up: started {shard} anew with that URL")

    def _outline(self, answer: JSON) -> Any:
        """Return what is compared of an answer apart from the objects in it."""
        headers = {name.lower(): value for name, value in (answer.get("headers") or {}).items()}
        body = comparable(answer["body"], self._stage.places)
        if self._objects(answer["body"], copy=False):
            body = {name: body[name] for name in ("kind", "apiVersion")}
        outline = {"type": headers.get("content-type", "").partition(";")[0], "warnings": answer.get("warnings") or []}
        return outline | (body if isinstance(body, dict) else {"text": body})

    def _objects(self, body: Any, copy: bool) -> dict[str, JSON]:
        if not isinstance(body, dict):
            return {}
        items = body.get("items", [body])
        return {name_of(item, self._stage.places, copy=copy): item for item in items if item.get("kind") in _KINDS}

    # Processes, and what was measured

    async def _note(self, moment: Moment) -> None:
        text = moment.id
        if "diff" in moment.record and not not_played(moment):
            plural = text.rpartition(" ")[2]
            ours = differing(*(self._bodies[f"D.{which}.{plural}"] for which in ("original", "cached")))
            self.found.begin(text)
            theirs = [path.removeprefix(".") for path, _, _ in moment.record["diff"]]
            self.found.say(*unlike(dict.fromkeys(theirs, "differs"), dict.fromkeys(ours, "differs")))
        elif await self._stage.do(text):
            self.found.begin(text, DONE)
        else:
            self.found.begin(text, f"not played [{not_played(moment)}]")

    # Watches

    async def _open(self, moment: Moment) -> None:
        path = re.sub(r"&resourceVersion=\d+", "", moment.path).replace("v1alpha2", "v1alpha1")
        server, path = self._stage.address(moment.record["server"], self._stage.translated(path))
        copies = moment.record["server"] == CACHE
        response = await self._stage.send(server, watch_request(path))
        pair = Pair(Shown(self._stage.places, copies=copies), Watched(response, self._stage.places, copies=copies))
        for item in self._lists.pop(moment.id, ()):
            pair.theirs.put(item)
        await self._beside.enter_async_context(background(pair.ours.follow()))
        self._watches[moment.id] = pair

    async def _event(self, moment: Moment) -> None:
        pair = self._watches[moment.id]
        happening = pair.theirs.take(in_older_form(moment.record["event"]))
        if happening and happening.name.startswith("slice"):
            await self._clock.run_until_idle()
            await self._make_up(pair, happening)

    async def _make_up(self, pair: Pair, happening: Happening) -> None:
        """Do what kcp's own controllers did, or a request that is not in the recording."""
        name, obj = happening.name, happening.obj
        mine = pair.ours.objects.get(name)
        if happening.type == "DELETED":
            if mine is not None:
                self._compare(name, obj, mine)
                await self._stage.delete(obj)
                self.found.say(f"made up: deleted {name}")
        elif mine is None:
            await self._stage.create(obj)
            self.found.say(f"made up: created {name}")
        elif wish(obj) != wish(mine):
            await self._stage.patch(obj)
            self.found.say(f"made up: changed {name}")

    def _compare_all(self) -> None:
        for pair in self._watches.values():
            for name in sorted(pair.theirs.objects.keys() | pair.ours.objects.keys()):
                self._compare(name, pair.theirs.objects.get(name), pair.ours.objects.get(name))

    def _compare(self, name: str, theirs: JSON | None, ours: JSON | None, *, answered: bool = False) -> None:
        if theirs is None or ours is None:
            lines = [] if theirs is ours else ["is unexpected" if theirs is None else "is missing"]
        else:
            lines = unlike(*(comparable(in_older_form(obj), self._stage.places) for obj in (theirs, ours)))
        self.found.about(name, lines, answered=answered)

    def _end(self, moment: Moment) -> None:
        pair = self._watches.pop(moment.id)
        if not pair.ours.copies:
            return
        self.found.begin(f"events of {moment.id}")
        both = ({name: " ".join(events) for name, events in shown.events.items()} for shown in (pair.theirs, pair.ours))
        self.found.say(*unlike(*both))
