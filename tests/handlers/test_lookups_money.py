"""Look-ups of the program's money: float and runway, ledger in words, fees, earnings, funding."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.money import exact_sum, format_usd
from bot.services import snapshots
from bot.services.money import funding_lookups, ledger_lookups
from bot.services.snapshots import Account
from handlers.views.lookups.float_and_ledger import percent
from tests.handlers.slack_driver import ALICE, OPS, SlackDriver
from tests.support.view_text import cell_text

Json = dict[str, Any]


async def answer(driver: SlackDriver, text: str, user: str = ALICE) -> Json:
    await driver.command(user, text)
    return await driver.shown_to(user)


def rows(message: Json) -> list[list[str]]:
    (table,) = [block for block in message["blocks"] if block["type"] == "table"]
    return [[cell_text(cell) for cell in row] for row in table["rows"]][1:]


def pairs(message: Json) -> dict[str, str]:
    texts = [f["text"] for block in message["blocks"] for f in block.get("fields", ())]
    return {label.strip("*"): value for label, value in zip(texts[::2], texts[1::2], strict=True)}


async def spend(driver: SlackDriver, hours: int, each_usd: int, balance_usd: int) -> None:
    """A history in which so much is spent every hour, up to now."""
    now = driver.world.clock.now()
    for n in range(hours + 1):
        driver.world.clock.advance(-3600 * (hours - n))
        async with driver.world.store.begin() as tx:
            left_usd = Decimal(balance_usd - n * each_usd)
            value = Account(left_usd, left_usd, Decimal(10_000), Decimal(n * each_usd), None, 0, 0, None)
            await snapshots.ACCOUNT.add_to_history(tx, "main", value)
        driver.world.clock.advance((now - driver.world.clock.now()).total_seconds())


async def test_the_float_tells_how_long_it_lasts_at_the_pace_of_the_last_days(driver: SlackDriver) -> None:
    balance = Decimal((await driver.world.state())["float"]["balance_usd"])
    await driver.world.tell("float", {"amount_usd": str(Decimal(2000) - balance)})
    await spend(driver, hours=24, each_usd=100, balance_usd=4400)

    shown = pairs(await answer(driver, "/float"))

    # 1,000 above the floor of 1,000 at about 100 an hour.
    hours = re.match(r"about (\d+) h, until ", shown["Runway"])
    assert hours, shown["Runway"]
    assert 9 <= int(hours[1]) <= 11
    assert shown["Floor"] == "1,000.00 USD"


async def test_requests_that_wait_shorten_the_runway_and_are_named(driver: SlackDriver) -> None:
    balance = Decimal((await driver.world.state())["float"]["balance_usd"])
    await driver.world.tell("float", {"amount_usd": str(Decimal(2000) - balance)})
    await spend(driver, hours=24, each_usd=100, balance_usd=4400)
    await driver.ask_top_up(amount="499")

    shown = pairs(await answer(driver, "/float"))

    assert shown["Held by 1 pending request"] == "499.00 USD"
    hours = re.match(r"about (\d+) h", shown["Runway"])
    assert hours
    assert 4 <= int(hours[1]) <= 6


async def test_a_runway_that_nobody_can_know_yet_is_not_guessed(driver: SlackDriver) -> None:
    assert "not enough history yet" in pairs(await answer(driver, "/float"))["Runway"]


async def test_the_course_of_the_float_is_that_of_the_period_named(driver: SlackDriver) -> None:
    await spend(driver, hours=72, each_usd=1, balance_usd=5000)

    whole, day = await answer(driver, "/float 7d"), await answer(driver, "/float 24h")

    labels = [
        next(
            b["chart"]["axis_config"]["categories"] for b in m["blocks"] if b["type"] == "data_visualization"
        )
        for m in (whole, day)
    ]
    begins = driver.world.clock.now().astimezone(ZoneInfo("Europe/Paris"))  # Alice's
    assert labels[0][0] == f"{begins - timedelta(hours=72):%d %b %H:%M}"
    assert labels[1][0] >= f"{begins - timedelta(hours=24):%d %b %H:%M}"
    assert "chart 1 Mar 2026" in str(day)
    assert "does not exist" in (await answer(driver, "/float 2026-02-30"))["text"]
    assert "“dances” isn't a period" in str(await answer(driver, "/float dances"))


async def test_the_ledger_is_put_in_words_and_adds_up(driver: SlackDriver) -> None:
    request = await driver.world.top_up("40")
    await driver.world.run_due()

    shown = await answer(driver, "/float ledger 90d")

    entries = [e async for e in driver.core.partners["main"].ledger_entries()]
    total = exact_sum(e.amount_usd for e in entries)
    assert f"together {format_usd(total)}" in str(shown)
    moved = [e for e in entries if e.amount_usd]
    assert len(rows(shown)) == len(moved), "what moves nothing is folded into one line"
    assert len(moved) < len(entries)
    assert "Not listed:" in str(shown)
    assert f"Ledger: {len(moved)} movement" in str(shown)
    out_usd = -exact_sum(e.amount_usd for e in entries if e.amount_usd < 0)
    assert f"out {format_usd(out_usd)}, together" in str(shown), "no sign before what is called out"
    (mine,) = [row for row in rows(shown) if row[3] == request.id]
    assert mine[1] == "-40.00 USD"
    assert mine[2].startswith("Top-up of ")
    assert "••" in mine[2]
    words = {row[2].split(" of ")[0].split(" on ")[0] for row in rows(shown)}
    assert {"Top-up", "Monthly fee"} <= words
    assert "purchases are not in the ledger" in str(shown)


async def test_the_fees_are_percent_in_words_and_the_earnings_apart_from_the_float(
    driver: SlackDriver,
) -> None:
    fees = await ledger_lookups.fees(driver.core, program="main")

    shown = await answer(driver, "/float fees")

    assert ["Funding the float", percent(fees.load_from_float_pct)] == rows(shown)[0][:2]
    assert "no payment is charged both." in str(shown)
    assert "cannot be spent on cards" in str(await answer(driver, "/float earnings"))


@pytest.mark.parametrize(
    ("fraction", "words"),
    [
        ("0.015", "1.5 %"),
        ("0", "0 %"),
        ("0.1", "10 %"),
        ("0.00001", "0.001 %"),
        ("1", "100 %"),
        ("0.50", "50 %"),
    ],
)
def test_a_rate_is_a_fraction_and_shown_as_percent(fraction: str, words: str) -> None:
    assert percent(Decimal(fraction)) == words


async def test_funding_that_is_stuck_comes_first_with_its_age_and_the_usual_time(driver: SlackDriver) -> None:
    hashes = [f"0x{n:064x}" for n in (1, 2, 3)]
    for tx_hash in hashes:
        await driver.world.tell(
            "chain/transfers",
            {
                "network": "POLYGON", "tx_hash": tx_hash, "senders": ["0x" + "a1" * 20], "token": "USDC",
                "amount": "100", "arrives": "manual",
            },
        )  # fmt: skip
        request = await driver.world.ask("funding_submit", {"tx_hash": tx_hash, "network": "POLYGON"})
        await driver.world.approve(request)
        await driver.world.run_due()
        await driver.world.advance(3 * 3600 if tx_hash == hashes[0] else 60)

    listed = await answer(driver, "/funding list")

    moving = [row for row in rows(listed) if row[3] in ("submitted", "in review")]
    assert moving, rows(listed)
    assert rows(listed)[: len(moving)] == moving
    first = await answer(driver, f"/funding show {moving[0][0]}")
    assert "usually at most" in pairs(first)["Age"]
    assert "read from your card provider just now" in str(first)
    assert moving[0][6] == pairs(first)["Request"]


async def test_the_request_behind_a_funding_is_a_link_to_its_message(driver: SlackDriver) -> None:
    await driver.command(ALICE, f"/funding submit 0x{7:064x} polygon")
    await driver.submit(ALICE, {"reason": "Fill up"})
    await driver.submit(ALICE)
    request = await driver.newest()
    await driver.world.approve(request)
    await driver.world.run_due()
    await driver.settle()
    submitted = await funding_lookups.funding_show(driver.core, f"0x{7:064x}")
    assert submitted.request_id == request.id

    await driver.command(ALICE, f"/funding show {submitted.id}", channel=OPS)

    assert re.search(
        r"<https://[^|>]+/archives/C0APPROVALS/p\d+\|Open the request>", str(await driver.shown_to(ALICE))
    )
