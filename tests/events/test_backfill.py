"""The event log fills what no delivery brought: each event once, whichever way came first, also after an outage."""

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.cli.backfill import moment
from bot.cli.terminal import Mistake
from bot.domain.events import State
from bot.services.events import CURSOR
from storage.events import cursors, inbox, webhook_secrets
from tests.events.receiving import Bot, Json
from tests.support.world import MASTER, World

ROOT = Path(__file__).parents[2]
HOST = "hooks.example.com"


async def subscribe(bot: Bot) -> None:
    """Register at the simulator, keep the secret it gives, and let the public host lead to our server."""
    change = await bot.world.core.partners["main"].set_webhook(
        json.dumps({"url": f"https://{HOST}/webhooks/main", "rotate": True}).encode()
    )
    assert change.secret is not None
    await bot.keep_secret(change.secret.reveal())
    await bot.world.tell("deliveries", {"map": {HOST: str(bot.client._base_url).rstrip("/")}})
    await bot.world.advance(61)  # what was queued before is tried again after a minute


async def buy(bot: Bot, amount_usd: str = "1.00", **more: str) -> Json:
    card = bot.world.cards[0]["id"]
    done: Json = await bot.world.tell("purchases", {"card_id": card, "amount_usd": amount_usd, **more})
    return done


async def at_the_service(bot: Bot) -> set[str]:
    return {event["id"] for event in (await bot.world.state())["events"]}


async def sources(bot: Bot) -> dict[str, str]:
    async with bot.world.store.read() as tx:
        found = [await inbox.get(tx, event_id) for event_id in await bot.stored()]
    return {event.event_id: event.source for event in found if event is not None}


async def test_a_purchase_reaches_the_picture_by_webhook_alone(bot: Bot) -> None:
    await subscribe(bot)
    done = await buy(bot)
    await bot.world.tell(f"purchases/{done['transaction_id']}/settle", {})
    await bot.world.advance(1)

    await bot.handle()

    found = await bot.purchase(done["transaction_id"])
    assert found is not None
    assert (found.state, found.open) == (State.SETTLED, ())
    assert found.charge_usd == Decimal(done["amount_usd"])
    state = await bot.world.state()
    assert all(event["delivered"] for event in state["events"])


async def test_a_purchase_reaches_the_same_picture_by_the_log_alone(bot: Bot) -> None:
    await bot.backfill.run_once()
    done = await buy(bot)
    await bot.world.tell(f"purchases/{done['transaction_id']}/settle", {})
    await bot.world.advance(1)

    await bot.backfill.run_once()
    await bot.handle()

    found = await bot.purchase(done["transaction_id"])
    assert found is not None
    assert (found.state, found.legs) == (State.SETTLED, 2)
    assert set((await sources(bot)).values()) == {"poll"}


async def test_both_ways_together_make_one_event_of_each(bot: Bot) -> None:
    await bot.backfill.run_once()
    await subscribe(bot)
    for _ in range(3):
        await buy(bot)
        await asyncio.gather(bot.world.advance(1), bot.backfill.run_once())
    await bot.backfill.run_once()
    await bot.handle()

    assert len(await bot.stored()) >= 3
    for transaction in {e["payload"]["transaction_id"] for e in await log_of(bot)}:
        found = await bot.purchase(transaction)
        assert found is None or found.legs == 1


async def log_of(bot: Bot) -> list[Json]:
    return [
        {"payload": dict(event.payload)}
        async for event in bot.world.core.partners["main"].events(since=bot.world.clock.now() - timedelta(1))
        if event.type == "card.authorized"
    ]


async def test_an_outage_of_three_hours_is_filled_whole_and_known_to_be_late(bot: Bot) -> None:
    await subscribe(bot)
    await bot.backfill.run_once()
    before = await at_the_service(bot)
    await bot.world.tell("deliveries", {"mode": "drop"})
    for _ in range(12):
        await buy(bot)
        await bot.world.advance(900)
    missed = await at_the_service(bot) - before
    assert len(missed) >= 12
    assert not missed & set(await bot.stored())

    await bot.backfill.run_once()
    await bot.handle()

    assert missed <= set(await bot.stored())
    assert await bot.unhandled() == []
    async with bot.world.store.read() as tx:
        late = [await inbox.get(tx, event_id) for event_id in missed]
    assert all(event is not None and event.source == "poll" for event in late)
    again = await bot.world.sent("GET /events")
    await bot.backfill.run_once()
    assert len(await bot.world.sent("GET /events")) == len(again) + 1, "from the cursor on: one page"


async def test_a_log_of_many_pages_costs_a_call_for_each_hundred(bot: Bot) -> None:
    await bot.backfill.run_once()
    for _ in range(230):
        await buy(bot, "0.01")
    await bot.world.advance(1)
    calls = len(await bot.world.sent("GET /events"))

    await bot.backfill.run_once()

    assert await at_the_service(bot) >= set(await bot.stored())
    made = len(await bot.stored())
    assert made >= 230
    assert len(await bot.world.sent("GET /events")) - calls == -(-made // 100)


async def test_a_reading_that_breaks_off_is_done_again_from_the_same_place(bot: Bot) -> None:
    await bot.backfill.run_once()
    for _ in range(150):
        await buy(bot, "0.01")
    await bot.world.advance(1)
    await bot.world.fault("status", "GET /events", nth=2, status=400, code="BAD_REQUEST")

    await bot.backfill.run_once()
    assert len(await bot.stored()) == 100, "the first page is kept"
    await bot.backfill.run_once()

    assert len(await bot.stored()) >= 150


@pytest.mark.parametrize("days", [-100, 100])
async def test_a_clock_of_ours_that_is_wrong_hides_no_event(bot: Bot, days: int) -> None:
    bot.world.clock.advance(days * 86_400)
    await bot.backfill.run_once()
    done = await buy(bot)
    await bot.world.tell("clock", {"advance_seconds": 1})

    await bot.backfill.run_once()
    await bot.handle()

    assert await bot.purchase(done["transaction_id"]) is not None


async def test_a_log_that_had_nothing_yet_is_read_from_its_first_event(bot: Bot) -> None:
    await bot.world.tell("reset", {})
    await bot.backfill.run_once()
    await bot.world.tell("scenarios/happy-day", {})
    assert await at_the_service(bot)

    await bot.backfill.run_once()

    assert set(await bot.stored()) == await at_the_service(bot)


async def test_a_log_older_than_what_was_read_of_it_is_read_whole(bot: Bot) -> None:
    async with bot.world.store.begin() as tx:
        await cursors.put(tx, "main", CURSOR, "2031-01-01T00:00:00+00:00")

    await bot.backfill.run_once()

    assert set(await bot.stored()) == await at_the_service(bot)
    calls = len(await bot.world.sent("GET /events"))
    await bot.backfill.run_once()
    assert len(await bot.world.sent("GET /events")) == calls + 1, "and from there on as ever"


async def test_a_code_of_a_challenge_is_not_stored_by_either_way(bot: Bot) -> None:
    challenge = {
        "card_id": "card-1",
        "partner_ref": "emp-1",
        "code": "834771",
        "merchant": "SHOP asks 834771",
        "note": "tell 834771 to nobody",
        "amount_usd": 10,
    }
    await bot.deliver(bot.event("card.3ds_challenge", challenge, event_id="e1"))

    code = bot.world.core.codes.take("e1", bot.world.clock)
    assert code is not None
    assert code.reveal() == "834771"
    kept = await bot.payload("e1")
    assert kept["data"]["card_id"] == "card-1"
    assert "834771" not in json.dumps(kept)
    await bot.handle()
    await bot.world.store.checkpoint()
    for file in bot.world.database.parent.glob("bot.db*"):
        assert b"834771" not in file.read_bytes(), file


async def test_a_challenge_of_the_simulator_leaves_its_code_in_memory_alone(bot: Bot) -> None:
    await bot.backfill.run_once()
    await bot.world.tell("account", {"threeds_webhook_enabled": True})
    await subscribe(bot)
    card = bot.world.cards[0]["id"]
    await bot.world.core.partners["main"].set_3ds(card, b'{"method":"webhook"}')
    await bot.world.tell(f"cards/{card}/3ds", {"amount_usd": "12.00", "merchant": "SHOP"})
    await bot.world.advance(1)

    (event_id,) = [e["id"] for e in (await bot.world.state())["events"] if e["type"] == "card.3ds_challenge"]
    code = bot.world.core.codes.take(event_id, bot.world.clock)
    assert code is not None
    await bot.backfill.run_once()
    await bot.handle()
    assert code.reveal() not in json.dumps(await bot.payload(event_id))


async def test_the_command_pulls_the_past_into_a_database_beside_its_bot(bot: Bot, tmp_path: Path) -> None:
    for _ in range(3):
        await buy(bot)
    await bot.world.advance(1)
    (tmp_path / "master.key").write_text(MASTER + "\n")
    (tmp_path / "master.key").chmod(0o600)

    first = await countersign(bot.world, tmp_path, "2026-03-02")
    second = await countersign(bot.world, tmp_path, "2026-03-02T00:00:00+00:00")

    made = len(await bot.stored())
    assert made >= 3
    assert first.startswith(f"main: {made} event(s) since 2026-03-02 00:00 UTC, {made} of them new.")
    assert f"{made} event(s) since 2026-03-02 00:00 UTC, 0 of them new." in second
    await bot.handle()
    assert await bot.unhandled() == []


async def countersign(world: World, folder: Path, since: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "COUNTERSIGN_DATABASE_URL": f"sqlite:///{world.database}",
        "COUNTERSIGN_MASTER_KEY_FILE": str(folder / "master.key"),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bot", "backfill", "--since", since),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said, complaint = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, complaint.decode()
    return said.decode()


NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_a_moment_without_an_offset_is_utc() -> None:
    assert moment("2026-03-01", NOW) == datetime(2026, 3, 1, tzinfo=UTC)
    assert moment("2026-03-01T10:00:00+02:00", NOW) == datetime(2026, 3, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "0001-01-01T00:00:00+14:00", "2026-03-03"])
def test_a_moment_that_is_none_or_in_the_future_is_said_to_be_so(text: str) -> None:
    with pytest.raises(Mistake):
        moment(text, NOW)


async def test_the_newest_secret_is_what_the_simulator_signs_with(bot: Bot) -> None:
    await subscribe(bot)
    await subscribe(bot)

    await buy(bot)
    await bot.world.advance(1)

    async with bot.world.store.read() as tx:
        newest = await webhook_secrets.newest(tx, "main")
    assert newest is not None
    assert newest.version == 3
    assert all(event["delivered"] for event in (await bot.world.state())["events"])
