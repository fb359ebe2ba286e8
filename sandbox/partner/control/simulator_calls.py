"""Control calls on the simulator itself: clock, reset, faults, snapshots, scenarios, and what it shows of itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec

from sandbox.partner import codec
from sandbox.partner.accounts import Utc, accounts, api_keys
from sandbox.partner.calls import Chaos, Fault, chaos, faults, journal
from sandbox.partner.cards import cards
from sandbox.partner.control import har, page_view, state_view
from sandbox.partner.control.forms import YEARS, ControlCall, Form, Nothing, Reply, Wrong
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.purchases import declines
from sandbox.partner.routes import OPERATIONS, table
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.state import SCHEMA_VERSION, Snapshot, World

_SNAPSHOTS_MOST = 20


class Reset(Form):
    """The seed to draw ids from afterwards, and a scenario to begin with."""

    seed: str | None = None
    scenario: str | None = None


class ClockChange(Form):
    """A mode, a time to set, and seconds to go on from there, in this order."""

    mode: Literal["realtime", "frozen"] | None = None
    set: Utc | None = None
    advance_seconds: Annotated[float, msgspec.Meta(ge=0, le=10**10)] | None = None


class SnapshotFile(Form):
    """What `GET snapshot` answered."""

    half: Literal["partner"]
    version: int
    content: str


def reset(world: World, form: Reset) -> Reply:
    """Empty the simulator, accounts and API keys apart, start its clock again, and play a scenario if one is named."""
    if form.scenario is not None and form.scenario not in SCENARIOS:
        raise Wrong(f"scenario: {form.scenario} is not a scenario here; known: {', '.join(SCENARIOS)}")
    world.clock.restart()
    catalogue.empty(world, form.seed)
    return catalogue.play(world, form.scenario) if form.scenario else {"seed": world.seed}


def change_clock(world: World, form: ClockChange) -> Reply:
    """Set, freeze or advance the clock; what falls due by it happens in order."""
    by = None if form.advance_seconds is None else timedelta(seconds=form.advance_seconds)
    before = world.clock.now()
    _check_year(form.set or before, by or timedelta(0))
    world.clock.change(form.mode, form.set, by)
    if world.clock.now() < before:  # what has fallen due stays done
        monthly_fees.start(world)
        cards.keep_reported(world, codec.stamp(before))
    return {"clock": codec.stamp(world.clock.now()), "mode": world.clock.mode}


def _check_year(start: datetime, by: timedelta) -> None:
    """Months are billed one by one, so the clock keeps to years that somebody might mean."""
    try:
        year = (start + by).year
    except OverflowError as error:
        raise Wrong("advance_seconds: beyond the calendar") from error
    if not YEARS[0] <= min(start.year, year) <= max(start.year, year) <= YEARS[1]:
        raise Wrong(f"set, advance_seconds: the clock runs from {YEARS[0]} to {YEARS[1]}")


def set_fault(world: World, form: Fault) -> Reply:
    """Set a fault after checking that it makes sense for its operation; its id."""
    operation = table.by_name(form.operation)
    if operation is None:
        known = ", ".join(operation.name for operation in OPERATIONS)
        raise Wrong(f"operation: {form.operation} is not an operation here; known: {known}")
    if form.effect == "status" and form.status is None:
        raise Wrong("status: the effect status needs one")
    if form.effect == "processor" and (form.processor is None or not operation.processor):
        raise Wrong(
            "processor: the effect processor needs an answer, and an operation that asks the processor"
        )
    if form.effect == "drop_midway" and not operation.midway:
        raise Wrong(f"effect: {operation.name} has no two commits to drop between")
    if form.effect == "delay" and form.seconds is None:
        raise Wrong("seconds: the effect delay needs them")
    return {"id": faults.add(world, form)}


def list_faults(world: World, form: Nothing) -> Reply:
    """Every fault as it was set, with how often it has struck."""
    return {"faults": faults.all_faults(world)}


def clear_faults(world: World, form: Nothing) -> Reply:
    """Forget every fault."""
    faults.clear(world)
    return {"faults": []}


def begin_chaos(world: World, form: Chaos) -> Reply:
    """Let a share of calls and deliveries go wrong, by a seed: lost answers, delays, refusals, duplicates, reorders."""
    chaos.begin(world, form)
    return {"chaos": msgspec.to_builtins(form)}


def play_scenario(world: World, form: Nothing, name: str) -> Reply:
    """Empty the simulator and set a scenario up; what is left to do in it."""
    if name not in SCENARIOS:
        raise Wrong(f"name: {name} is not a scenario here; known: {', '.join(SCENARIOS)}", 404)
    catalogue.empty(world, None)
    return catalogue.play(world, name)


def take_snapshot(world: World, form: Nothing, name: str) -> Reply:
    """Keep everything as it is now under a name, as long as the simulator runs."""
    if len(world.snapshots) >= _SNAPSHOTS_MOST and name not in world.snapshots:
        raise Wrong(
            f"name: at most {_SNAPSHOTS_MOST} snapshots are kept; known: {', '.join(world.snapshots)}"
        )
    world.snapshots[name] = Snapshot(world.store.copy(), dict(world.bodies))
    return {"snapshot": name, "snapshots": list(world.snapshots)}


def restore_snapshot(world: World, form: Nothing, name: str) -> Reply:
    """Everything as it was: accounts, API keys, clock and seed included. A snapshot can be restored often."""
    kept = world.snapshots.get(name)
    if kept is None:
        raise Wrong(f"name: no snapshot {name}; known: {', '.join(world.snapshots) or 'none'}", 404)
    world.restore(kept)
    return {"snapshot": name, "clock": codec.stamp(world.clock.now())}


def write_snapshot(world: World, form: Nothing) -> Reply:
    """Everything as it is now, for a file: no API key is in it, and what the journal masks on disk is masked."""
    return {"half": "partner", "version": SCHEMA_VERSION, "content": world.store.written_out()}


def read_snapshot(world: World, form: SnapshotFile) -> Reply:
    """Everything as it was when the file was written: accounts, keys, clock and seed. This one's key works, too."""
    if form.version != SCHEMA_VERSION:
        raise Wrong(f"version: the file is of version {form.version}, this simulator of {SCHEMA_VERSION}")
    try:
        taken = world.store.read_in(form.content)
    except ValueError as error:
        raise Wrong(f"content: {error}") from error
    world.restore(Snapshot(taken, {}))
    taken.close()
    if world.standing_key:  # no key is in the file, so whoever gets it has no other
        api_keys.issue_key(world, accounts.first_account(world), key=world.standing_key, name="Standing key")
    return {"clock": codec.stamp(world.clock.now()), "seed": world.seed}


def read_state(world: World, form: Nothing) -> Reply:
    """The whole truth of the simulator, without a secret."""
    return state_view.state(world)


def read_view(world: World, form: Nothing) -> Reply:
    """What the viewer page draws: the newest of everything, the scenarios' names and why a purchase can be declined."""
    return {**page_view.view(world), "scenarios": list(SCENARIOS), "decline_reasons": declines.reasons()}


def read_journal(world: World, form: Nothing) -> Reply:
    """Every API request since the reset with its body as it came, oldest first."""
    return {"requests": journal.read(world)}


def read_har(world: World, form: Nothing) -> Reply:
    """The journal as an HTTP archive (HAR 1.2) with the tester's calls in between, for --replay."""
    return har.written(world)


CALLS: tuple[ControlCall, ...] = (
    ControlCall("GET", "state", Nothing, read_state),
    ControlCall("GET", "view", Nothing, read_view),
    ControlCall("GET", "journal", Nothing, read_journal),
    ControlCall("GET", "journal.har", Nothing, read_har),
    ControlCall("POST", "reset", Reset, reset),
    ControlCall("POST", "clock", ClockChange, change_clock),
    ControlCall("GET", "faults", Nothing, list_faults),
    ControlCall("POST", "faults", Fault, set_fault),
    ControlCall("DELETE", "faults", Nothing, clear_faults),
    ControlCall("POST", "chaos", Chaos, begin_chaos),
    ControlCall("GET", "snapshot", Nothing, write_snapshot),
    ControlCall("POST", "snapshot", SnapshotFile, read_snapshot),
    ControlCall("POST", "snapshots/{}", Nothing, take_snapshot),
    ControlCall("POST", "snapshots/{}/restore", Nothing, restore_snapshot),
    ControlCall("POST", "scenarios/{}", Nothing, play_scenario),
)
