"""The harness itself: it believes a controller that sees the world late, and no other; and its faults are real."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.calm import Losses, settling
from tests.chaos.clocks import JumpingClock
from tests.chaos.invariants import Tampered, Violation, unfounded
from tests.chaos.plans import SHARDS, parse, plan_of, without
from tests.chaos.processes import Process
from tests.chaos.proxy import Cable
from tests.chaos.recorder import Recorder, Seen
from tests.chaos.truth import Books, Home, Lost, ShardObject, SliceSpec, World, all_lost, compose, wish

PLACE = ("c-amber", "slice")
EU = frozenset({("region", "eu")})
US = frozenset({("region", "us")})


def home(name: str, labels: frozenset[tuple[str, str]] = EU) -> Home:
    exports = frozenset({(f"c-{name}", "kept")})
    return Home({f"root:{name}": f"c-{name}"}, {name: ShardObject(f"https://{name}", labels)}, exports)


def world(spec: SliceSpec | None = None, **homes: Home) -> World:
    amber = home("amber")._replace(
        slices={PLACE: spec or SliceSpec("root:green", "kept", "region")}, partitions={("c-amber", "region"): EU}
    )
    return World({"amber": amber, **{name: home(name) for name in ("green", "violet")}, **homes})


def urls(*shards: str) -> frozenset[str]:
    return frozenset(compose(f"https://{shard}", ("c-green", "kept")) for shard in shards)


def judged(folder: Path, worlds: list[World], states: list[frozenset[str]], *tampered: Tampered) -> list[Violation]:
    """Return what is said of a history: the n-th state of the slice is seen after the n-th change of the world."""
    books = Books(worlds[0], 0.0)
    for number, one in enumerate(worlds):
        books.change(one, float(number))
    recorder = Recorder(Process("amber", folder / str(time.monotonic_ns()), [], kubeconfig=""))
    recorder.histories[PLACE] = [Seen(n + 0.5, "MODIFIED" if n else "ADDED", str(n), s) for n, s in enumerate(states)]
    return list(unfounded(books, {"amber": recorder}, tampered, since=0.0))


# What is believed


def test_an_endpoint_that_goes_although_nothing_changed_is_a_violation_even_if_it_comes_back(tmp_path: Path) -> None:
    three = urls("amber", "green", "violet")

    found = judged(tmp_path, [world()] * 3, [three, three - urls("violet"), three])

    assert [(one.home, one.place) for one in found] == [("amber", PLACE)]
    assert "https://violet/services/apiexport/c-green/kept disappeared" in found[0].promise


def test_a_change_of_labels_takes_an_endpoint_away_once_and_no_other(tmp_path: Path) -> None:
    three = urls("amber", "green", "violet")
    there_and_back = [world(), world(violet=home("violet", US)), world(), world(), world()]

    assert judged(tmp_path, there_and_back, [three, three, three - urls("violet"), three]) == []
    assert judged(tmp_path, there_and_back, [three, three, three - urls("green"), three])
    flapping = [three, three - urls("violet"), three, three - urls("violet"), three]
    assert not judged(tmp_path, there_and_back, flapping[:3])
    assert judged(tmp_path, [*there_and_back, *there_and_back[:1] * 5], [*flapping, *flapping[1:]])


def test_what_went_with_a_store_is_no_excuse_and_neither_is_a_shard_that_is_made_again(tmp_path: Path) -> None:
    three = urls("amber", "green", "violet")
    emptied = Home({"root:green": "c-new"}, {"green": ShardObject("https://green", EU)})
    lost = frozenset(all_lost("green", home("green"), emptied))
    after = world()._replace(held=lost).with_home("green", emptied)

    assert lost == {Lost("green", "c-green", "root:green", "kept")}
    assert judged(tmp_path, [world(), after, after], [three, three, frozenset()])
    assert wish(after, "amber", PLACE).may == three


def test_a_deleted_export_and_a_forged_copy_are_excuses(tmp_path: Path) -> None:
    three = urls("amber", "green", "violet")
    deleted = world(green=home("green")._replace(exports=frozenset()))
    forged = Tampered(0.1, "shards", "violet", labels=frozenset({("region", "forged")}))

    assert judged(tmp_path, [world(), deleted], [three, frozenset()]) == []
    assert judged(tmp_path, [world()] * 3, [three, three - urls("violet"), three], forged) == []
    assert judged(tmp_path, [world()] * 3, [three, three - urls("green"), three], forged)


CHANGES = st.lists(
    st.tuples(st.sampled_from(["green", "violet"]), st.sampled_from(["eu", "us", "export", "url", "twin"])), max_size=8
)


def test_it_is_not_calm_while_a_removal_is_about_to_settle_and_is_while_one_waits_for_its_twin() -> None:
    def missed(name: str, state: str = "leaving", shard: str = "green") -> dict[str, str]:
        return {"kind": "shards", "shard": shard, "cluster": "root", "name": name, "state": state}

    assert list(settling(world(), "amber", [missed("ghost")])) == ["shards root|ghost of green"]
    assert list(settling(world(), "amber", [missed("ghost", shard="")])) == ["shards root|ghost of amber"]
    assert list(settling(world(), "amber", [missed("violet")])) == [], "it is at violet as well"
    assert list(settling(world(), "amber", [missed("violet", shard="violet")])) == ["shards root|violet of violet"]
    assert list(settling(world(), "amber", [missed("ghost", "held")])) == [], "what is held waits for an operator"


def test_it_is_not_calm_either_before_what_is_missed_has_been_the_same_for_a_while() -> None:
    losses, one, other = Losses(), {"name": "one"}, {"name": "other"}

    assert not losses.are_young("amber", [], 0.0)
    assert losses.are_young("amber", [one], 10.0)
    assert losses.are_young("amber", [one], 12.0)
    assert losses.are_young("amber", [one, other], 12.9)
    assert not losses.are_young("amber", [one, other], 16.0)


def _changed(state: Home, name: str, what: str) -> Home:
    shard = state.shards[name]
    if what == "export":
        return state._replace(exports=state.exports ^ {(f"c-{name}", "kept")})
    if what == "twin":
        twin = {} if "twin" in state.shards else {"twin": ShardObject("https://twin", EU)}
        return state._replace(shards={name: shard, **twin})
    if what == "url":
        shard = shard._replace(url=f"{shard.url}-1" if not shard.url.endswith("-1") else shard.url[:-2])
    else:
        shard = shard._replace(labels=frozenset({("region", what)}))
    return state._replace(shards={**state.shards, name: shard})


@given(CHANGES, st.data())
def test_a_controller_that_sees_each_shard_late_but_never_backwards_is_always_believed(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str]], data: st.DataObject
) -> None:
    worlds = [world()]
    for name, what in changes:
        worlds.append(worlds[-1].with_home(name, _changed(worlds[-1].of(name), name, what)))
    seen, states = {"green": 0, "violet": 0}, []
    for now in range(len(worlds)):
        for name in seen:
            seen[name] = data.draw(st.integers(seen[name], now))
        view = worlds[now]
        for name, at in seen.items():
            view = view.with_home(name, worlds[at].of(name))
        states.append(wish(view, "amber", PLACE).must)

    assert judged(tmp_path_factory.getbasetemp() / "late", worlds, states) == []


# Plans


def test_a_plan_is_the_same_for_ever_and_can_be_printed_read_and_cut() -> None:
    plan = plan_of(7)

    assert plan == plan_of(7) != plan_of(8)
    assert parse("\n".join(f"{step}  # at 3.1" for step in plan)) == plan
    assert without(parse("kill amber\nkill green\ntamper delete shards amber"), ["kill amber", "tamper"]) == [
        parse("kill green")[0]
    ]


def test_every_verb_turns_up_and_names_a_process_first() -> None:
    verbs = {step.verb: step.words for seed in range(300) for step in plan_of(seed)}

    assert len(verbs) > 35
    assert {words[0] for verb, words in verbs.items() if words and verb not in ("wait", "tamper")} <= {*SHARDS, "cache"}


# Faults


@pytest.fixture
async def echoed() -> AsyncIterator[tuple[Cable, int]]:
    """A cable to a server that sends everything back."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(1000):
            writer.write(chunk)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    cable = Cable()
    await cable.open()
    cable.lead_to(server.sockets[0].getsockname()[1])
    try:
        yield cable, cable.port
    finally:
        await cable.aclose()
        server.close()


async def talk(port: int, text: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    return reader, writer


async def test_a_cable_carries_cuts_and_carries_again(echoed: tuple[Cable, int]) -> None:
    cable, port = echoed
    reader, writer = await talk(port, b"hello")
    assert await reader.readexactly(5) == b"hello"

    await cable.cut()

    with pytest.raises(ConnectionError):
        assert await reader.read(1) == b"a broken connection"
    writer.close()
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", port)
    await cable.heal()
    reader, writer = await talk(port, b"again")
    assert await reader.readexactly(5) == b"again"
    writer.close()


async def test_a_half_open_cable_swallows_and_resets_what_it_swallowed_when_it_heals(
    echoed: tuple[Cable, int],
) -> None:
    cable, port = echoed
    old, old_writer = await talk(port, b"old")
    assert await old.readexactly(3) == b"old"
    cable.half_open()
    new, new_writer = await talk(port, b"new")
    old_writer.write(b"more")
    reads = [asyncio.ensure_future(reader.read(1)) for reader in (old, new)]

    done, _ = await asyncio.wait(reads, timeout=0.05)
    assert not done
    await cable.heal()

    found = await asyncio.gather(*reads, return_exceptions=True)
    assert all(isinstance(one, ConnectionError) or one == b"" for one in found)
    for writer in (old_writer, new_writer):
        writer.close()


async def test_a_truncated_answer_ends_in_the_middle(echoed: tuple[Cable, int]) -> None:
    cable, port = echoed
    cable.truncate()
    reader, writer = await talk(port, b"12345678")

    assert await reader.read() == b"1234"
    writer.close()


def test_the_clock_of_a_running_process_jumps_and_its_times_stay_plain_datetimes(tmp_path: Path) -> None:
    clock = JumpingClock(tmp_path / "clock")
    program = (
        "import json, msgspec, sys, time\nfrom datetime import UTC, datetime\n"
        "for _ in sys.stdin:\n"
        "    print(json.dumps([time.time(), msgspec.json.encode(datetime.now(UTC)).decode()]), flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], env=clock.environment, stdin=-1, stdout=-1, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def asked() -> list[object]:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write("\n")
            child.stdin.flush()
            return list(json.loads(child.stdout.readline()))

        before = asked()
        clock.jump(86400.0 * 365)
        after = asked()

    assert isinstance(before[0], float)
    assert isinstance(after[0], float)
    assert after[0] - before[0] > 86400 * 364
    assert str(after[1])[1:5] == str(int(str(before[1])[1:5]) + 1)
