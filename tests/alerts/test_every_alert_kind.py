"""Each kind of alert, from the simulator's control call to the words in the channel, by each way it can come.

Three ways: the webhook alone, what is read alone (the event log and the poller), and both. What an event tells
is received by all three; a condition that no event exists for is the poller's alone. Always one alert.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import update

from bot.domain.alerts.catalogue import CATALOGUE
from bot.domain.events import Destination
from bot.domain.people import Delegation
from bot.operations import reason_in_words
from bot.partner.models import CREDITED_REASONS, REJECTED_REASONS, REVIEW_REASONS
from bot.services import alerts, requests
from bot.services.core import Core
from bot.services.events import Relay, Sender, inbox
from bot.services.execution import maintenance
from bot.services.operators import delegations
from bot.services.operators import programs as program_services
from bot.services.received_event import ReceivedEvent
from storage import tables
from storage.cards import api_snapshots
from storage.messages import alerts as alert_rows
from storage.operators import programs
from storage.transaction import Tx
from tests.alerts.conftest import ALERTS, Desk
from tests.events.receiving import a_bot
from tests.handlers.slack_driver import ALICE, BOB, CAROL, a_slack_driver

pytestmark = pytest.mark.by_turns(4)

ROOT = Path(__file__).parents[2]
WAYS = ("webhook alone", "what is read alone", "both")
SENDER = "0x" + "a1" * 20
Play = Callable[[Desk], Awaitable[None]]


@dataclass(frozen=True)
class Kind:
    """`play` makes it happen at the card provider, `jobs` of the poller find it, `words` are in its message."""

    kind: str
    play: Play
    words: tuple[str, ...]
    jobs: tuple[str, ...] = ()
    seconds: float = 60
    over: Play | None = None


# What happens at the card provider


def declined(code: str, *, times: int = 1, merchant: str = "ACME") -> Play:
    async def play(desk: Desk) -> None:
        card = await new_card(desk)
        for _ in range(times):
            await desk.tell(
                "purchases",
                {"card_id": card, "amount_usd": "45", "merchant": merchant, "decline_code": code},
            )

    return play


async def new_card(desk: Desk) -> str:
    """One more card, so that scenarios do not meet on one; its id."""
    number = next(desk.bot.numbers)
    body = {
        "card_holder_name": f"HOLDER {number}", "phone_country_code": 49, "phone": "15123456789",
        "email": "holder@example.com", "partner_ref": f"every-{number}",
    }  # fmt: skip
    made = await desk.api("POST", "/cards", body, key=f"every-{number}")
    return str(made["card"]["id"])


async def bought_with_a_blocked_card(desk: Desk) -> None:
    card = await new_card(desk)
    await desk.tell(f"cards/{card}", {"status": "BLOCKED"})
    await desk.tell("purchases", {"card_id": card, "amount_usd": "45", "merchant": "ACME"})


async def bought_with_a_frozen_card(desk: Desk) -> None:
    card = await new_card(desk)
    await desk.api("POST", f"/cards/{card}/freeze", {"frozen": True})
    await desk.tell("purchases", {"card_id": card, "amount_usd": "45", "merchant": "ACME"})
    await desk.api("POST", f"/cards/{card}/freeze", {"frozen": False})


async def credited(desk: Desk) -> None:
    await decided(desk, await submitted(desk), "hold", "credit")


async def challenged(desk: Desk) -> None:
    """In webhook mode, of a card whose reference nobody is named for."""
    await desk.tell("account", {"threeds_webhook_enabled": True})
    card = await new_card(desk)
    await desk.driver.world.advance(60)  # nobody buys with a card whose status is not known yet
    await desk.api("POST", f"/cards/{card}/topup", {"amount_usd": 50}, key=f"fill-{card}")
    await desk.api("PUT", f"/cards/{card}/3ds", {"method": "webhook"})
    await desk.tell(f"cards/{card}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})


async def submitted(desk: Desk, network: str = "POLYGON") -> str:
    """A submission of a transfer that waits on the chain; its id."""
    tx_hash = f"0x{next(desk.bot.numbers):064x}"
    await desk.tell("wallets", {"address": SENDER, "owner": "self"})
    payment = {"network": network, "tx_hash": tx_hash, "senders": [SENDER], "token": "USDC", "amount": "500"}
    await desk.tell("chain/transfers", {"arrives": "manual", **payment})
    made = await desk.api("POST", "/funding", {"tx_hash": tx_hash, "network": network})
    return str(made["id"])


async def decided(desk: Desk, funding_id: str, *decisions: str) -> None:
    for decision in decisions:
        await desk.tell(f"funding/{funding_id}/decide", {"decision": decision})


def funding(*decisions: str) -> Play:
    async def play(desk: Desk) -> None:
        await decided(desk, await submitted(desk), *decisions)

    return play


async def submitted_on_base(desk: Desk) -> None:
    await submitted(desk, "BASE")


async def submitted_what_nobody_sees(desk: Desk) -> None:
    await desk.api("POST", "/funding", {"tx_hash": "0x" + "77" * 32, "network": "BASE"})


async def submitted_four_that_nobody_sees(desk: Desk) -> None:
    for n in range(4):
        await desk.api("POST", "/funding", {"tx_hash": "0x" + f"{n}c" * 32, "network": "BASE"})


async def balance_at(desk: Desk, amount_usd: str) -> None:
    now_usd = Decimal((await desk.driver.world.state())["float"]["balance_usd"])
    await desk.tell("float", {"amount_usd": str(Decimal(amount_usd) - now_usd)})


async def float_below_its_floor(desk: Desk) -> None:
    await balance_at(desk, "900")


async def float_above_its_clear_level(desk: Desk) -> None:
    await balance_at(desk, "1200")


async def spent_for_hours(desk: Desk) -> None:
    """400 an hour of 5,000, over a floor of 1,000: shown by the readings, hour by hour."""
    await balance_at(desk, "5000")
    card = desk.driver.world.cards[0]["id"]
    for n in range(4):
        await desk.poll("account", seconds=3600)
        await desk.api("POST", f"/cards/{card}/topup", {"amount_usd": 400}, key=f"spend-{n}")


async def much_money_came(desk: Desk) -> None:
    await desk.tell("float", {"amount_usd": "500000"})


async def allowance_used_up(desk: Desk) -> None:
    total = (await desk.driver.core.partners["main"].me()).cards.total
    await desk.tell("account", {"cards_limit": total})


async def allowance_raised(desk: Desk) -> None:
    await desk.tell("account", {"cards_limit": 1000})


def status(word: str) -> Play:
    async def play(desk: Desk) -> None:
        await desk.tell(f"cards/{desk.driver.world.cards[0]['id']}", {"status": word})

    return play


async def closed_past_the_bot(desk: Desk) -> None:
    card = desk.driver.world.cards[0]["id"]
    await desk.api("POST", f"/cards/{card}/close", {}, key="past-the-bot")


async def topped_up_past_the_bot(desk: Desk) -> None:
    card = desk.driver.world.cards[0]["id"]
    await desk.api("POST", f"/cards/{card}/topup", {"amount_usd": 5}, key="past-the-bot")


async def topped_up_for_a_request_that_was_cancelled(desk: Desk) -> None:
    """By a copy of the bot that was started from an older backup."""
    world = desk.driver.world
    request = await world.top_up("5", approved=False)
    await requests.cancel(world.core, request.id, ALICE)
    card = request.subject
    await desk.api("POST", f"/cards/{card}/topup", {"amount_usd": 5}, key=request.key)


async def topped_up_by_a_copy_of_the_bot(desk: Desk) -> None:
    """The key is of this instance, and no request here has it: as after a restored backup."""
    card, key = desk.driver.world.cards[0]["id"], desk.driver.core.ids.idempotency_key()
    await desk.api("POST", f"/cards/{card}/topup", {"amount_usd": 5}, key=key)


async def the_key_is_of_another_account(desk: Desk) -> None:
    """As if the sealed key had been exchanged: the program is tied to the account it was of."""
    async with desk.driver.core.store.begin() as tx:
        await programs.learn_partner_id(tx, "main", "another-account")


async def the_key_is_of_the_known_account_again(desk: Desk) -> None:
    me = await desk.driver.core.partners["main"].me()
    async with desk.driver.core.store.begin() as tx:
        await tx.run(update(tables.program).values(partner_id=me.partner.id))
    await program_services.probe_paused(desk.driver.core)


async def a_row_of_the_ledger_changed(desk: Desk) -> None:
    """Nothing that the API offers makes them differ, so the simulator's own file is changed."""
    newest = "SELECT max(seq) FROM ledger WHERE kind = 'card_topup'"
    simulator = desk.driver.world.simulator.world
    simulator.store.run(f"UPDATE ledger SET amount_usd = '-1' WHERE seq = ({newest})")


async def deliveries_dropped(desk: Desk) -> None:
    await desk.tell("deliveries", {"mode": "drop"})
    await desk.tell("purchases", {"card_id": desk.driver.world.cards[0]["id"], "amount_usd": "1"})


async def deliveries_normal(desk: Desk) -> None:
    await desk.tell("deliveries", {"mode": "normal"})
    for _ in range(16):  # the pause before the next attempt has grown, and it must not come stale
        await desk.driver.world.advance(250)
    await desk.handled()


async def delivered_somewhere_else(desk: Desk) -> None:
    """The card provider says that it delivered, and what it delivered is known here from the log alone."""
    for _ in range(3):
        await desk.tell("deliveries", {"mode": "pause"})
        await desk.tell("purchases", {"card_id": desk.driver.world.cards[0]["id"], "amount_usd": "1"})
        await desk.log()
        await desk.tell("deliveries", {"mode": "normal"})
        await desk.handled()


def fault(operation: str, status: int, code: str) -> Play:
    async def play(desk: Desk) -> None:
        rule = {"operation": operation, "effect": "status", "status": status, "code": code, "times": 99}
        await desk.tell("faults", rule)

    return play


async def no_fault(desk: Desk) -> None:
    await desk.driver.world.control.delete("/_control/faults")


async def key_revoked(desk: Desk) -> None:
    await desk.tell("keys", {"key": desk.driver.world.simulator.key, "revoked": True})


# What an event tells: one desk for each way, every kind of them once

BY_EVENT = {
    "a decline": Kind(
        "decline", declined("merchant_category_blocked"), ("Declined at ACME", "this kind of merchant")
    ),
    "a fraud decline": Kind(
        "decline", declined("fraud_risk_declined", times=2), ("✗ Critical", "Declined 2 times", "like fraud")
    ),
    "a security decline": Kind(
        "decline", declined("security_check_failed"), ("✗ Critical", "a security check failed")
    ),
    "a decline of a frozen card": Kind(
        "decline", bought_with_a_frozen_card, ("✗ Critical", "the card is not usable", "find out who froze it")
    ),
    "a cluster": Kind(
        "decline", declined("processing_error", times=6), ("Declined 6 times", "A retry can help", "ACME (6)")
    ),
    "a cluster of another cause": Kind(
        "decline", declined("daily_limit_exceeded", times=5), ("daily limit is used up", "Raise the limit")
    ),
    "a blocked card": Kind(
        "card_blocked", bought_with_a_blocked_card, ("is blocked by your card provider",), ("cards",)
    ),
    "a credit": Kind("funding", credited, ("is credited: 49",), ("funding",)),
    "a challenge": Kind("3ds", challenged, ("No one to send the code of", "WEB SHOP")),
}  # fmt: skip


@asynccontextmanager
async def a_desk(folder: Path) -> AsyncIterator[Desk]:
    """A desk of its own, its webhook registered and everything before it handled."""
    async with a_slack_driver(folder) as driver, a_bot(driver.world) as bot:
        desk = Desk(driver, bot)
        await bot.backfill.run_once()
        await desk.poller.funding()
        await desk.poller.cards()
        await desk.register()
        yield desk


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desks(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Callable[[str], Awaitable[Desk]]]:
    """The desk that learns of events in one way, made when it is first asked for."""
    made: dict[str, Desk] = {}
    async with AsyncExitStack() as stack:

        async def of(way: str) -> Desk:
            if way not in made:
                desk = await stack.enter_async_context(a_desk(tmp_path_factory.mktemp("desk")))
                if way == "what is read alone":
                    await desk.tell("deliveries", {"mode": "drop"})
                made[way] = desk
            return made[way]

        yield of


async def receive(desk: Desk, way: str, jobs: tuple[str, ...], seconds: float = 60) -> None:
    """Twice over, as deliveries and readings repeat."""
    for _ in range(2):
        if way != "webhook alone":
            await desk.log()
            await desk.poll(*jobs, seconds=seconds)
        await desk.handled()


async def places(desk: Desk) -> dict[str, str]:
    """The messages of the channel itself, by where they are."""
    found = [m for m in await desk.everything() if m.get("thread_ts") in (None, m["ts"])]
    return dict(zip((m["ts"] for m in found), await desk.seen(), strict=True))


async def reported_since(desk: Desk, before: dict[str, str]) -> list[str]:
    """New messages; one of before that reads otherwise now is none."""
    return [words for ts, words in (await places(desk)).items() if ts not in before]


@pytest.mark.by_turns(5)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BY_EVENT)
async def test_what_an_event_tells_is_one_alert_whichever_way_it_is_received(
    desks: Callable[[str], Awaitable[Desk]], name: str, way: str
) -> None:
    desk, kind = await desks(way), BY_EVENT[name]
    await desk.driver.world.advance(1300)  # what was before is another window's
    await (desk.handled() if way == "webhook alone" else desk.log())
    await desk.handled()
    before, ids = await places(desk), await alert_ids(desk)

    await kind.play(desk)
    await receive(desk, way, kind.jobs)

    found = await reported_since(desk, before)
    assert len(found) == 1, found
    (answer,) = found
    for words in kind.words:
        assert words in answer
    (raised,) = await alert_ids(desk) - ids
    assert raised[0] == kind.kind
    assert await program_of(desk, raised[1]) == "main"


async def program_of(desk: Desk, alert_id: str) -> str | None:
    """The program whose word, LIVE or SANDBOX, the alert says."""
    async with desk.driver.world.store.read() as tx:
        found = await alert_rows.get(tx, alert_id)
    assert found is not None
    return found.program


async def alert_ids(desk: Desk) -> set[tuple[str, str]]:
    async with desk.driver.world.store.read() as tx:
        found = await alert_rows.raised_since(tx, tx.now - timedelta(days=4000))
    return {(alert.kind, alert.id) for alert in found}


# What no event tells: the poller alone finds it

BY_READING = {
    "a low float": Kind(
        "float_low", float_below_its_floor, ("Float of main is low: 900.00 USD, floor 1,000.00 USD",),
        ("account",), over=float_above_its_clear_level,
    ),
    "a short runway": Kind(
        "runway", spent_for_hours, ("Float of main lasts about", "Submit funding in time"),
        ("account", "runway"), over=much_money_came,
    ),
    "a used allowance": Kind(
        "allowance", allowance_used_up, ("✗ Critical: Card allowance of main: 0 of",), ("account",),
        over=allowance_raised,
    ),
    "a submission in review": Kind(
        "funding", funding("hold"), ("is in review", "Your card provider holds it."), ("funding",)
    ),
    "a rejected submission": Kind(
        "funding", funding("hold", "reject"), ("is rejected", "reviewed and refused it"), ("funding",)
    ),
    "an overdue submission": Kind(
        "funding", submitted_on_base, ("is overdue: pending for more than",), ("funding",), 5 * 3600
    ),
    "a hash nobody sees": Kind(
        "funding", submitted_what_nobody_sees, ("is not seen on BASE yet",), ("funding",), 601
    ),
    "a separate credit": Kind(
        "funding", funding("hold", "credit_separately"), ("was credited separately", "in the ledger"),
        ("funding",),
    ),
    "four unverified submissions": Kind(
        "funding_unverified", submitted_four_that_nobody_sees, ("4 of at most 5 unverified funding submissions",),
        ("funding",),
    ),
    "a card blocked by your card provider": Kind(
        "card_blocked", status("BLOCKED"), ("is blocked by your card provider", "Nobody here can"), ("cards",),
        over=status("ACTIVE"),
    ),
    "a card frozen by your card provider": Kind(
        "card_status", status("FROZEN"), ("was frozen outside Countersign", "Your card provider froze it"), ("cards",),
        over=status("ACTIVE"),
    ),
    "an expired card": Kind("card_status", status("EXPIRED"), ("has expired", "Purchases fail."), ("cards",)),
    "an inactive card": Kind("card_status", status("INACTIVE"), ("is inactive", "not documented"), ("cards",)),
    "a card closed past the bot": Kind(
        "card_status", closed_past_the_bot, ("was closed outside Countersign",), ("cards",)
    ),
    "a ledger that differs": Kind(
        "ledger_differs", a_row_of_the_ledger_changed, ("✗ Critical: Ledger and float of main differ by",),
        ("ledger",),
    ),
    "a fall of the float that no request explains": Kind(
        "unexplained_movement", topped_up_past_the_bot,
        ("fell by 5.00 USD, and no request here explains it", "-5.00 USD, card_topup, topup:past-the-bot"),
        ("ledger",),
    ),
    "a debit with a key of this bot that it does not know": Kind(
        "unexplained_movement", topped_up_by_a_copy_of_the_bot,
        ("✗ Critical", "1 movement made through Countersign, which has no request for it", "topup:co-"), ("ledger",),
    ),
    "a debit under the key of a request that was cancelled": Kind(
        "unexplained_movement", topped_up_for_a_request_that_was_cancelled,
        ("✗ Critical: 5.00 USD left the float of main for R-", "which is cancelled", "-5.00 USD, card_topup, topup:"),
        ("ledger",),
    ),
    "a key of another account": Kind(
        "account_changed", the_key_is_of_another_account,
        ("✗ Critical: Sending to main is paused: its key belongs to another account",), ("account",),
        over=the_key_is_of_the_known_account_again,
    ),
    "failing deliveries": Kind(
        "webhook_failing", deliveries_dropped, ("Webhook deliveries for main fail",), ("webhook",), 400,
        over=deliveries_normal,
    ),
    "deliveries that go elsewhere": Kind(
        "webhook_silent", delivered_somewhere_else, ("No webhook delivery for main arrives here",), ("webhook",), 400
    ),
    "an account that cannot be read": Kind(
        "poller_silent", fault("GET /me", 500, "UNAVAILABLE"), ("✗ Critical: The account of main cannot be read",),
        ("account", "watch"), 120, over=no_fault,
    ),
    "a missing scope": Kind(
        "scope", fault("GET /funding", 403, "FORBIDDEN"), ("The key of main may not call GET /funding",),
        ("funding",), 700, over=no_fault,
    ),
    "a revoked key": Kind(
        "key_trouble", key_revoked, ("✗ Critical: Sending to main is paused", "countersign keys set main"),
        ("account",),
    ),
}  # fmt: skip


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", BY_READING)
async def test_what_no_event_tells_is_one_alert_of_the_pollers_and_its_end_is_reported(
    desk: Desk, name: str
) -> None:
    kind = BY_READING[name]
    await desk.register()
    await desk.poll("cards", "ledger")
    before, ids = await places(desk), await alert_ids(desk)

    await kind.play(desk)
    await desk.handled()
    assert await reported_since(desk, before) == [], "the webhook alone"
    for _ in range(2):
        await desk.poll(*kind.jobs, seconds=kind.seconds)
    alone = await reported_since(desk, before)
    await receive(desk, "both", kind.jobs, kind.seconds)

    assert len(alone) == len(await reported_since(desk, before)) == 1, alone
    for words in kind.words:
        assert words in alone[0]
    (raised,) = await alert_ids(desk) - ids
    assert raised[0] == kind.kind
    assert await program_of(desk, raised[1]) == "main"
    if kind.over:
        await kind.over(desk)
        await receive(desk, "both", kind.jobs, kind.seconds)
        (answer,) = await reported_since(desk, before)
        assert answer.startswith("✓ Resolved"), answer


async def test_a_credit_taken_back_is_reported_though_the_credit_was_reported_before(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decided(desk, funding_id, "hold", "credit")
    await receive(desk, "both", ("funding",))
    before = await places(desk)

    await decided(desk, funding_id, "reverse")
    await receive(desk, "both", ("funding",), 86_401)

    (answer,) = await reported_since(desk, before)
    assert "✗ Critical" in answer
    assert "was taken back" in answer


async def test_a_submission_that_another_account_took_over_is_reported_as_gone(desk: Desk) -> None:
    other = (await desk.tell("accounts", {}))["account"]
    key = (await desk.tell("keys", {"account": other}))["key"]
    await desk.tell("wallets", {"account": other, "address": SENDER, "owner": "self"})
    tx_hash = "0x" + "4d" * 32
    await desk.driver.world.advance(1)
    await desk.api("POST", "/funding", {"tx_hash": tx_hash, "network": "POLYGON"})
    await desk.poll("funding")
    paid = {"network": "POLYGON", "tx_hash": tx_hash, "senders": [SENDER], "token": "USDC", "amount": "500"}
    await desk.tell("chain/transfers", {"arrives": "manual", **paid})
    await desk.api("POST", "/funding", {"tx_hash": tx_hash, "network": "POLYGON"}, as_key=key)
    for _ in range(2):
        await desk.poll("funding")

    assert "has disappeared" in await desk.only()


async def test_every_reason_of_the_document_is_reported_in_its_words(desk: Desk) -> None:
    """Each brought about at the simulator by the scenario of its name."""
    reasons = [
        *(("rejected", reason) for reason in REJECTED_REASONS),
        *(("review", reason) for reason in REVIEW_REASONS),
        *(("credited", reason) for reason in CREDITED_REASONS),
    ]
    for status_, reason in reasons:
        left = await desk.tell(f"scenarios/funding-{status_}-{reason}", {})
        await desk.tell("clock", {"mode": "frozen", "set": desk.driver.world.clock.now().isoformat()})
        before = await places(desk)
        made = await desk.api("POST", "/funding", left["submit"])
        for call in left.get("after", ()):
            await sent_to_the_service(desk, call, made["id"])
        await desk.poll("funding")

        answer = [words for words in await reported_since(desk, before) if made["id"] in words]
        assert len(answer) == 1, (status_, reason, answer)
        words = reason_in_words(status_, reason)
        assert not words.startswith("Reason given")
        assert words in answer[0], (status_, reason)
        await forget(desk, made["id"])


async def forget(desk: Desk, funding_id: str) -> None:
    """Each scenario begins again and gives its submission the same id."""
    async with desk.driver.world.store.begin() as tx:
        await alerts.resolve(tx, desk.driver.core, f"funding:main:{funding_id}")
        await api_snapshots.drop(tx, "main", f"funding:{funding_id}")


async def sent_to_the_service(desk: Desk, call: dict[str, Any], funding_id: str) -> None:
    """A call that a scenario leaves to do; time goes on for both sides."""
    if call["path"] == "clock":
        await desk.driver.world.advance(call["body"]["advance_seconds"])
    else:
        await desk.tell(call["path"].replace("{id}", funding_id), call["body"])


# What the bot finds out about itself and its people


async def test_an_outcome_nobody_knows_names_its_request(desk: Desk) -> None:
    await desk.driver.world.fault("processor", processor="5xx")
    request = await desk.driver.world.top_up("25")
    await desk.driver.world.run(60)
    await receive(desk, "both", ("account", "cards", "funding"))

    answer = [words for words in await desk.seen() if request.id in words]
    assert len(answer) == 1, answer
    assert "✗ Critical" in answer[0]
    assert {kind for kind, _ in await alert_ids(desk)} == {"unresolved"}


async def test_a_policy_that_its_people_cannot_meet_is_reported_until_they_can(desk: Desk) -> None:
    async def members(*people: str) -> None:
        await desk.driver.tell("groups", {"handle": "card-approvers", "users": list(people)})
        await desk.driver.world.advance(3600)
        await maintenance.check_policy(desk.driver.core)
        await desk.posted()

    await members(BOB)
    await members(BOB)

    async def about_the_policy() -> str:
        (said,) = [words for words in await desk.seen() if "Who may approve has changed" not in words]
        return said

    assert "Nobody can approve some requests" in await about_the_policy()

    await members(BOB, CAROL)
    assert "✓ Resolved" in await about_the_policy()


async def test_a_delegation_is_reported_when_it_begins_and_when_it_ends(desk: Desk) -> None:
    now = desk.driver.world.clock.now()
    away = Delegation("@bob", "@alice", now, now + timedelta(hours=1), "on leave")
    core = desk.driver.world.rebuild(policy=replace(desk.driver.core.policy, delegations=(away,)))
    for _ in range(2):
        await delegations.announce(core)
        await desk.posted()
    assert "Alice Moreau decides in place of Bob Tanaka" in await desk.only()

    await desk.driver.world.advance(3600)
    await delegations.announce(core)
    await desk.posted()
    assert sorted("ended" in words for words in await desk.seen()) == [False, True]


async def test_an_event_that_cannot_be_handled_is_one_alert_and_holds_up_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.register()
    honest = inbox.on_event

    async def on_event(tx: Tx, core: Core, received: ReceivedEvent) -> None:
        if getattr(received.event.data, "merchant", "") == "CURSED":
            raise RuntimeError("a rule that has a fault")
        await honest(tx, core, received)

    monkeypatch.setattr(inbox, "on_event", on_event)
    for merchant in ("CURSED", "ACME"):
        await declined("processing_error", merchant=merchant)(desk)
    for seconds in (6, 31, 121, 601, 3601):
        await receive(desk, "both", ())
        await desk.driver.world.advance(seconds)

    answer = await desk.seen()
    assert len(answer) == 2, answer
    assert sum("An event of main cannot be processed" in words for words in answer) == 1
    assert sum("Declined at ACME" in words for words in answer) == 1


async def test_copies_that_nobody_takes_for_a_day_are_one_alert_that_ends_with_sending_again(
    desk: Desk,
) -> None:
    async def nowhere(host: str) -> list[str]:
        return []

    destination = Destination("ledger", "https://ledger.example.com/in", ("card.declined",))
    desk.driver.world.rebuild(destinations=(destination,))
    copies, sender = Relay(desk.driver.core), Sender(resolve=nowhere)
    for _ in range(3):
        await declined("processing_error")(desk)
    await desk.log()
    await desk.handled()
    before = await places(desk)
    for _ in range(60):
        await desk.driver.world.advance(1800)
        await copies.deliver(destination, sender)
    await sender.close()
    await desk.posted()

    (answer,) = await reported_since(desk, before)
    assert "ledger is not receiving events: 3 given up" in answer
    assert "nothing may be sent to" in answer
    (message,) = [m for m in await desk.everything() if "3 given up" in m["text"]]
    await desk.driver.press(ALICE, message, "alert:redeliver", channel=ALERTS)
    assert "Nothing was sent" in (await desk.driver.shown_to(ALICE, ALERTS))["text"]
    await desk.driver.press(BOB, message, "alert:redeliver", channel=ALERTS)
    await desk.posted()
    (answer,) = await reported_since(desk, before)
    assert answer.startswith("✓ Resolved")


# Nothing is left out

ELSEWHERE = {
    "changed_outside": ("tests/services/test_changed_tables.py", "changed_outside"),
    "code_person": ("tests/alerts/test_event_alerts.py", "One-time codes of emp-1042 go to"),
    "consent": ("tests/handlers/test_people_commands.py", "asks to resume sending to main"),
    "deliveries_refused": ("tests/events/test_events_receiver.py", "deliveries_refused"),
    "ended_put_back": ("tests/services/test_noes_put_back.py", "ended_put_back"),
    "handover": ("tests/handlers/test_people_commands.py", 'open_of(tx, "handover")'),
    "key_reused": ("tests/services/test_topup_outcome_table.py", "key_reused"),
    "landed_late": ("tests/services/test_whose_evidence.py", "landed_late"),
    "not_done": ("tests/services/test_not_done_yet.py", "not_done"),
    "not_done_yet": ("tests/services/test_not_done_yet.py", "not_done_yet"),
    "stopped": ("tests/alerts/test_stopped_purchases.py", "Stopped"),
    "message_failed": ("tests/services/test_outbox_delivery.py", "plain About request"),
    "messages_wait": ("tests/services/test_waiting_messages.py", "messages_wait"),
    "rows_signed": ("tests/services/test_changed_tables.py", "rows_signed"),
    "slack_access": ("tests/integration/test_app.py", "slack_access"),
    "people_changed": ("tests/services/test_people_watch.py", "people_changed"),
    "policy_changed": ("tests/services/test_people_watch.py", "policy_changed"),
    "passkey_ended": (
        "tests/services/test_passkeys.py",
        '("passkey_ended", "A passkey of Bob may have been copied',
    ),
    "older_copy": ("tests/storage/test_restore_drill.py", "older_copy"),
    "ledger_unseen": ("tests/storage/test_limits_after_restores.py", "ledger_unseen"),
    "slack_unseen": ("tests/storage/test_holds_after_a_start.py", "slack_unseen"),
    "anchors_missing": ("tests/integration/test_copies_without_anchors.py", "anchors_missing"),
    "slack_not_all_seen": ("tests/storage/test_copies_that_slack_shows.py", "slack_not_all_seen"),
    "requests_unseen": ("tests/storage/test_requests_unseen_in_slack.py", "requests_unseen"),
    "new_database": ("tests/storage/test_requests_unseen_in_slack.py", "new_database"),
    "paused": ("tests/handlers/test_people_commands.py", "Sending to main is paused by"),
    "stop_not_recorded": ("tests/services/test_stops_not_recorded.py", "stop_not_recorded"),
    "relay_destinations": ("tests/relay/test_relay.py", "relay_destinations"),
    "relay_unreadable": ("tests/relay/test_relay.py", "relay_unreadable"),
    "tampered": ("tests/services/test_tampering.py", "tampered"),
    "process_frozen": ("tests/engine/test_frozen_processes.py", "process_frozen"),
    "webhook_secret": ("tests/services/test_webhook_kinds.py", "webhook_secret"),
    "unreadable_row": ("tests/services/test_unreadable_rows.py", "unreadable_row"),
}
"""Kinds that begin with people or with a changed database, not with the card provider: what shows each, and where."""
HERE = {"unresolved", "policy", "delegation", "event_stuck", "relay_dead"}


def test_every_kind_of_alert_has_its_scenario() -> None:
    scripted = {kind.kind for kind in (*BY_EVENT.values(), *BY_READING.values())} | HERE

    assert scripted & ELSEWHERE.keys() == set()
    assert scripted | ELSEWHERE.keys() == CATALOGUE.keys()
    for path, shown in ELSEWHERE.values():
        assert shown in (ROOT / path).read_text(), path
