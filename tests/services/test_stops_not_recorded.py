"""Whatever keeps a stop from being recorded: nothing of what it was to stop leaves until it is, the person reads the
truth, and the alerts channel learns of it. Every deed that stops something, failing at each of its statements."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from bot.domain.errors import NotAllowed, NotFound, Stale
from bot.domain.requests import Request, State
from bot.services import held_stops
from bot.services.operators import confirmations, health, late_stops, otp_recipients, pausing
from bot.services.requests import approvals, lifecycle
from storage.cards import otp_recipients as code_rows
from storage.errors import ChangedOutside
from storage.operators import pauses
from storage.requests import confirmations as consent_rows
from storage.transaction import Tx
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import top_ups
from tests.support import stops
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = [pytest.mark.walk, pytest.mark.by_turns(4)]


@dataclass
class Faulty:
    """From the statement number `first` on, whatever is done with the database fails; 0 = nothing does."""

    error: Callable[[], Exception]
    first: int = 0
    ran: int = 0

    def from_(self, first: int) -> None:
        self.first, self.ran = first, 0

    def runs(self) -> None:
        self.ran += 1
        if self.first and self.ran >= self.first:
            raise self.error()


ERRORS: dict[str, Callable[[], Exception]] = {
    "unforeseen": lambda: RuntimeError("No row was found when one was required"),
    "too large": lambda: OverflowError("Python int too large"),
    "of the database": lambda: IntegrityError("INSERT", {}, Exception("taken")),
    "changed": lambda: ChangedOutside("A row is not as it was left."),
}


@pytest.fixture
def faulty(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Faulty:
    made, run = Faulty(ERRORS[request.param]), Tx.run

    async def fails(tx: Tx, *args: Any) -> Any:
        made.runs()
        return await run(tx, *args)

    monkeypatch.setattr(Tx, "run", fails)
    return made


@dataclass
class Channel:
    """What is posted past the outbox."""

    texts: list[str] = field(default_factory=list)

    async def say(self, text: str, _whom: Sequence[str]) -> None:
        self.texts.append(text)


Begun = Any


@dataclass(frozen=True)
class Deed:
    """`before`: what is so until then; `do`: what stops it; `left`: tries to have it leave all the same, True where it
    did; `is_done`: is it recorded? `after`: makes room for the next."""

    before: Callable[[World], Awaitable[Begun]]
    do: Callable[[World, Begun], Awaitable[object]]
    left: Callable[[World, Begun], Awaitable[bool]]
    is_done: Callable[[World, Begun], Awaitable[bool]]


async def _pending(world: World) -> Request:
    return await world.top_up("10", approved=False)


async def _approved(world: World) -> Request:
    return await world.top_up("10")


async def _is_sent(world: World, request: Request) -> bool:
    if (await world.request(request.id)).state is State.PENDING:
        await world.approve(request)
    await world.run_due()
    return top_ups(world) != []


async def _is_paused(world: World, request: Request) -> bool:
    async with world.store.read() as tx:
        is_so = await pauses.of(tx, "main") is not None
    if is_so:  # for the next one
        await lifecycle.cancel(world.core, request.id, ALICE)
        await pausing.resume(world.core, BOB, ["main"])
        await pausing.resume(world.core, CAROL, ["main"])
    return is_so


async def _is_ended(world: World, request: Request) -> bool:
    return (await world.request(request.id)).state in (State.CANCELLED, State.REJECTED)


async def _asked_to_resume(world: World) -> str:
    await pausing.pause(world.core, BOB, ["main"], "stolen key")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        found = await consent_rows.open_one(tx, pausing.RESUME, "main")
    assert found is not None
    return found.id


async def _decline(world: World, consent_id: str) -> None:
    await confirmations.decline(world.core, pausing.ACT, consent_id, CAROL)


async def _is_resumed(world: World, consent_id: str) -> bool:
    with pytest.raises(Stale):
        await confirmations.give(world.core, pausing.ACT, consent_id, CAROL)
    async with world.store.read() as tx:
        return await pauses.of(tx, "main") is None


async def _is_declined(world: World, consent_id: str) -> bool:
    async with world.store.read() as tx:
        found = await consent_rows.get(tx, consent_id)
    return found is not None and found.state == "declined"


async def _gets_codes(world: World) -> str:
    async with world.store.begin() as tx:
        await code_rows.put(tx, "emp-0003", ALICE)
    return "emp-0003"


async def _unname(world: World, reference: str) -> None:
    await otp_recipients.unname(world.core, CAROL, reference)


async def _gets_a_code(world: World, reference: str) -> bool:
    return not world.core.held.holds(f"code:{reference}")


async def _gets_none(world: World, reference: str) -> bool:
    async with world.store.read() as tx:
        return await code_rows.person_of(tx, reference) is None


DEEDS = {
    "pause": Deed(_approved, stops.pause, _is_sent, _is_paused),
    "reject": Deed(_pending, stops.reject, _is_sent, _is_ended),
    "cancel": Deed(_pending, stops.withdraw, _is_sent, _is_ended),
    "stop": Deed(_approved, stops.reject, _is_sent, _is_ended),
    "withdraw": Deed(_approved, stops.withdraw, _is_sent, _is_ended),
    "decline": Deed(_asked_to_resume, _decline, _is_resumed, _is_declined),
    "codes": Deed(_gets_codes, _unname, _gets_a_code, _gets_none),
}


def alerts_of_stops(world: World) -> list[dict[str, Any]]:
    """The alerts that a stop could not be recorded, over or not."""
    with opened(place_of(world)) as database:
        return [row for row in database.read("alert") if row["kind"] == "stop_not_recorded"]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("faulty", ERRORS, indirect=True)
@pytest.mark.parametrize("deed", DEEDS)
async def test_a_stop_that_fails_at_any_statement_holds_what_it_was_to_stop(
    url: str, tmp_path: Path, faulty: Faulty, deed: str
) -> None:
    made, first = DEEDS[deed], 0
    async with a_world(tmp_path, url=url) as world:
        channel = Channel()
        late = late_stops.LateStops(world.core, channel.say)
        while first := first + 1:
            begun = await made.before(world)
            world.core.people_kept.clear()  # who asks is written down again
            faulty.from_(first)
            failed: Exception | None = None
            try:
                await made.do(world, begun)
            except Exception as error:  # noqa: BLE001 - whichever it is
                failed = error
            if failed is None:
                break
            assert "not recorded yet" in held_stops.said(failed), failed
            channel.texts.clear()
            faulty.from_(1)
            await late.look()
            await late.look()
            assert [text[:16] for text in channel.texts] == ["Not recorded yet"], first
            faulty.from_(0)
            assert not await made.left(world, begun), first
            assert "Not recorded since" in str(await health.stops_are_recorded(world.core))

            before = len(alerts_of_stops(world))
            await late.look()

            assert [row["state"] for row in alerts_of_stops(world)[before:]] == ["resolved"], first
            assert await health.stops_are_recorded(world.core) is None
            assert world.core.held.all() == []
            assert await made.is_done(world, begun), first
        assert first > 5  # it has as many statements


@pytest.mark.parametrize("faulty", ["unforeseen"], indirect=True)
async def test_a_stop_of_somebody_who_may_not_is_held_no_longer_than_nobody_can_tell(
    world: World, faulty: Faulty
) -> None:
    request = await world.top_up("10")
    channel = Channel()
    faulty.from_(1)
    with pytest.raises(RuntimeError):
        await approvals.reject(world.core, request.id, ALICE, reason="stop it")
    faulty.from_(0)
    await world.run_due()
    assert top_ups(world) == []

    await late_stops.LateStops(world.core, channel.say).look()

    await world.run_due()
    assert len(top_ups(world)) == 1
    assert "cancel it instead" in alerts_of_stops(world)[0]["text"]


async def test_a_refusal_holds_nothing(world: World) -> None:
    request = await world.top_up("10")
    with pytest.raises(NotAllowed) as refused:
        await approvals.reject(world.core, request.id, ALICE, reason="stop it")
    assert held_stops.said(refused.value) == ""
    await world.run_due()
    assert len(top_ups(world)) == 1


@pytest.mark.parametrize("faulty", ["unforeseen"], indirect=True)
async def test_nobody_has_more_held_than_so_many_but_a_pause_always_is(
    world: World, faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_stops, "MOST", 2)
    other, last = await world.top_up("10"), await world.top_up("10")
    faulty.from_(1)
    for n in range(3):
        with pytest.raises(RuntimeError) as failed:
            await lifecycle.cancel(world.core, f"R-AAA{n}", ALICE)
    assert "may be sent" in held_stops.said(failed.value)
    with pytest.raises(RuntimeError) as failed:  # and nobody else is kept from it
        await approvals.reject(world.core, last.id, CAROL, reason="stop it")
    assert "may be sent" not in held_stops.said(failed.value)
    faulty.from_(0)
    await world.run_due()
    assert (await world.request(other.id)).state is State.SUCCEEDED
    assert (await world.request(last.id)).state is State.APPROVED

    faulty.from_(1)
    with pytest.raises(RuntimeError) as failed:
        await pausing.pause(world.core, ALICE, ["main"], "stolen key")
    assert "may be sent" not in held_stops.said(failed.value)
    faulty.from_(0)
    assert world.core.held.holds("program:main")

    await late_stops.LateStops(world.core, Channel().say).look()

    assert world.core.held.all() == []


NO_IDS = ["R-1\x00", "R-\ud800", "R-1'", "R-", "\x00", "", "R-1\n2", "R-" + "A" * 4000]
WITH_ID: dict[str, Callable[[World, str], Awaitable[object]]] = {
    "reject": lambda world, text: approvals.reject(world.core, text, CAROL, reason="stop it"),
    "cancel": lambda world, text: lifecycle.cancel(world.core, text, ALICE),
    "codes": lambda world, text: otp_recipients.unname(world.core, CAROL, text),
    "decline": lambda world, text: confirmations.decline(world.core, pausing.ACT, text, CAROL),
    "pause": lambda world, text: pausing.pause(world.core, CAROL, [text], "stolen key"),
}


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("deed", WITH_ID)
async def test_what_is_no_id_of_ours_is_not_found_and_nothing_is_held(
    url: str, tmp_path: Path, deed: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        for text in NO_IDS:
            with pytest.raises(NotFound) as refused:
                await WITH_ID[deed](world, text)
            str(refused.value).encode()
            assert held_stops.said(refused.value) == ""
            assert world.core.held.all() == [], text


def _refused(world: World, action: str) -> int:
    with opened(place_of(world)) as database:
        return sum(row["action"] == action and row["outcome"] == "refused" for row in database.read("audit"))


@pytest.mark.parametrize("deed", ["reject", "cancel"])
async def test_what_keeps_it_from_being_recorded_is_on_record_once_however_the_id_is_typed(
    world: World, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    async def fails(*_: object) -> Request:
        raise ChangedOutside("A row is not as it was left.")

    request = await world.top_up("10")
    monkeypatch.setattr(lifecycle, "existing_as_on_record", fails)
    monkeypatch.setattr(approvals, "existing_as_on_record", fails)
    with pytest.raises(ChangedOutside):
        await WITH_ID[deed](world, f" {request.id.lower()} ")
    for _ in range(3):
        await late_stops.LateStops(world.core, Channel().say).look()

    assert len(world.core.held.waiting()) == 1
    assert _refused(world, f"request.{deed}") == 1


async def _approved_list(world: World) -> Request:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    return await world.request(batch.id)


LISTS = {
    "stop a list": Deed(_approved_list, stops.reject, _is_sent, _is_ended),
    "withdraw a list": Deed(_approved_list, stops.withdraw, _is_sent, _is_ended),
}
ACTIONS = {"decline": "consent.decline", "codes": "code.name_person", "reject": "request.reject"}
SO_ALREADY = [*(name for name in DEEDS if name != "pause"), *LISTS]


def _ends(world: World) -> list[str]:
    return [row["title"].partition(":")[0] for row in alerts_of_stops(world)]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("how", ["by the same again", "though no answer came", "by another process"])
@pytest.mark.parametrize("deed", SO_ALREADY)
async def test_what_is_so_already_by_whoever_is_recorded_and_never_called_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, how: str
) -> None:
    made, run = (DEEDS | LISTS)[deed], Tx.run
    async with a_world(tmp_path, url=url) as world:
        begun = await made.before(world)
        if how == "though no answer came":
            await _without_an_answer(world, monkeypatch, lambda: made.do(world, begun))
        else:
            monkeypatch.setattr(Tx, "run", _fails)
            with pytest.raises(RuntimeError):
                await made.do(world, begun)
            monkeypatch.setattr(Tx, "run", run)
            held = world.core.held.all() if how == "by another process" else []
            for one in held:
                world.core.held.drop(one)
            await made.do(world, begun)
            for one in held:
                world.core.held.put(one)
        assert len(world.core.held.all()) == 1

        await late_stops.LateStops(world.core, Channel().say).look()

        assert world.core.held.all() == []
        assert _ends(world) == ["Recorded"]
        assert _refused(world, ACTIONS.get(deed, "request.cancel")) == 0
        assert _refused(world, "request.reject") == 0
        assert await made.is_done(world, begun)


async def _fails(*_: object) -> None:
    raise RuntimeError("No row was found when one was required")


async def _without_an_answer(
    world: World, monkeypatch: pytest.MonkeyPatch, do: Callable[[], Awaitable[object]]
) -> None:
    """It is committed, and who asked learns only that the connection is gone."""
    put = held_stops.HeldStops.recorded

    async def recorded(held: Any, stop: Any, does: Any, clock: Any) -> Any:
        async def lost(*args: Any) -> Any:
            await does(*args)
            if not held.all():
                raise RuntimeError("the connection is gone")

        return await put(held, stop, lost, clock)

    monkeypatch.setattr(held_stops.HeldStops, "recorded", recorded)
    with pytest.raises(RuntimeError):
        await do()
    monkeypatch.setattr(held_stops.HeldStops, "recorded", put)


async def _held_pause(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Tx.run
    monkeypatch.setattr(Tx, "run", _fails)
    with pytest.raises(RuntimeError):
        await pausing.pause(world.core, CAROL, ["main"], "stolen key")
    monkeypatch.setattr(Tx, "run", run)


@pytest.mark.parametrize("again", [CAROL, BOB, ""])
async def test_a_held_pause_ends_with_one_that_is_recorded_and_with_a_resumption_by_two(
    world: World, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    if not again:
        await pausing.pause(world.core, BOB, ["main"], "stolen key")
    await _held_pause(world, monkeypatch)
    if again:
        await pausing.pause(world.core, again, ["main"], "stolen key")
        assert world.core.held.waiting() == []
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])

    await late_stops.LateStops(world.core, Channel().say).look()

    assert world.core.held.all() == []
    assert _ends(world) == ["Recorded" if again else "Refused"]
    async with world.store.read() as tx:
        assert await pauses.of(tx, "main") is None
