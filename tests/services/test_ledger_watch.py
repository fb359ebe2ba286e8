"""The watch over the ledger: cheap however long it is, reported once for each fall, and of nothing that is ours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.alerts import float_alerts
from bot.domain.money import ledger_text
from bot.domain.requests import SENT, Request, State
from bot.partner.calls.pages import Page
from bot.partner.models import LedgerEntry
from bot.services import requests
from bot.services.alerts import ledger_rules, unsent_debits
from bot.services.events import Poller
from bot.services.requests import approvals, request_lookups
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, run_to_the_end
from tests.services.outcome_steps import alert_kinds, execute, jump_to_the_end, open_alerts
from tests.support.kinds import TEXTS
from tests.support.situations import everything_said
from tests.support.world import ALICE, BOB, CAROL, World

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def row(n: int, amount: str = "-1", **fields: Any) -> LedgerEntry:
    value = {"amount_usd": Decimal(amount), "kind": "card_topup", "reference": f"topup:k{n}", "card_id": "a"}
    return LedgerEntry.read({**value, "created_at": (NOW + timedelta(seconds=n)).isoformat(), **fields})


class Ledger:
    """Stands for the client of an account whose ledger has many rows, and gets more."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
        self.rows = [row(n) for n in range(size)]
        self.grows = 0
        self.pages = 0
        self._client = world.core.partners["main"]
        self._me = self._client.me
        monkeypatch.setattr(self._client, "me", self.me)
        monkeypatch.setattr(self._client, "ledger", self.ledger)

    async def me(self, **_: Any) -> Any:
        me = await self._me()
        total = sum((entry.amount_usd for entry in self.rows), Decimal(0))
        return me.model_copy(update={"float": me.float.model_copy(update={"balance_usd": total})})

    async def ledger(self, page: int = 1, limit: int = 50, **_: Any) -> Page[LedgerEntry]:
        self.pages += 1
        if page > 1 and self.grows:
            self.rows += [row(len(self.rows) + n) for n in range(self.grows)]
        newest = self.rows[::-1]
        some = newest[(page - 1) * limit : page * limit]
        return Page(some, len(newest) if some else 0, max(1, -(-len(newest) // limit)))


async def test_of_a_long_ledger_only_what_came_in_is_read_and_each_fall_is_reported_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(world, monkeypatch, 5_000)
    await ledger_rules.compare(world.core, "main")
    assert ledger.pages == 50
    assert await alert_kinds(world) == set(), "what was there before anybody watched"

    for times in (1, 2):
        ledger.pages = 0
        ledger.rows += [row(90_000 + times * 10 + n) for n in range(3)]
        for _ in range(2):
            await ledger_rules.compare(world.core, "main")

        assert ledger.pages <= 2
        shown = [a for a in await open_alerts(world) if a.kind == float_alerts.UNEXPLAINED.name]
        assert len(shown) == times
        assert all(alert.count == 1 for alert in shown)
        assert "fell by 3.00 USD" in shown[-1].title


async def test_a_long_ledger_is_summed_though_rows_come_in_while_it_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(world, monkeypatch, 5_000)
    ledger.grows = 1
    for _ in range(3):
        await ledger_rules.compare(world.core, "main")

    assert "ledger_differs" not in await alert_kinds(world)


def test_which_keys_moved_something_is_seen_in_one_walk_over_a_long_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [row(n) for n in range(500)] + [row(n, "1") for n in range(499)]
    read = list[str | None]()

    def key_in(reference: str | None) -> str:
        read.append(reference)
        return str(reference)

    monkeypatch.setattr(ledger_text, "key_in", key_in)

    assert unsent_debits.moving(rows) == {"topup:k499"}
    assert len(read) == len(rows), "in a long ledger, once for each two rows takes minutes"


async def test_a_row_that_was_changed_below_the_sum_is_noticed_within_a_day(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(world, monkeypatch, 2_000)
    await ledger_rules.compare(world.core, "main")
    balance = await ledger.me()
    ledger.rows[100] = row(100, "-7")

    async def as_before(**_: Any) -> Any:
        return balance

    monkeypatch.setattr(world.core.partners["main"], "me", as_before)
    for _ in range(2):
        await world.advance(86_400)
        await ledger_rules.compare(world.core, "main")

    assert "ledger_differs" in await alert_kinds(world)


async def test_what_requests_of_this_bot_move_is_explained(world: World) -> None:
    await ledger_rules.compare(world.core, "main")
    assert (await execute(world, await world.top_up("50"))).state == "succeeded"
    await world.tell("float", {"amount_usd": "100"})

    await ledger_rules.compare(world.core, "main")

    assert await alert_kinds(world) == set()


HASH, OTHER_HASH = "0x" + "ab" * 32, "0x" + "cd" * 32

# Each kind of row that takes from the float [Ledger entry], by what its reference names: is there a cause for it?
FALLS: dict[str, tuple[str, str, bool]] = {
    "a top-up of ours": ("card_topup", "topup:{our_key}", True),
    "a top-up of somebody else": ("card_topup", "topup:somebody-else-1", False),
    "a load fee": ("fee", f"funding-POLYGON-{OTHER_HASH}:fee", True),
    "the monthly fee of a card of this account": ("fee", "card-fee:{card}:2026-03", True),
    "the first fee of a card that we ordered": ("fee", "card-fee:{ordered}:2026-03", True),
    "the fee of a card that nobody here knows": (
        "fee",
        "card-fee:zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz:2026-03",
        False,
    ),
    "a fee without a reference": ("fee", "", False),
    "a funding of ours that was taken back": ("funding", f"funding-reversal-POLYGON-{HASH}", True),
    "a funding taken back that nobody submitted": (
        "funding",
        f"funding-reversal-POLYGON-{OTHER_HASH}",
        False,
    ),
    "a fall that is booked as funding": ("funding", "", False),
    "a funding row that is negative": ("funding", f"funding-POLYGON-{HASH}", False),
    "a load fee taken at a return": ("fee", f"funding-reversal-POLYGON-{HASH}:fee", False),
    "a refund that takes": ("refund", "unload:k", False),
    "an adjustment that takes": ("adjustment", "", False),
    "a kind that is new": ("chargeback", "", False),
}


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("case", FALLS)
async def test_a_fall_is_reported_unless_our_request_or_the_agreement_explains_it(
    world: World, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    kind, reference, is_explained = FALLS[case]
    topped_up = await execute(world, await world.top_up("50"))
    order = await world.ask("card_order", TEXTS["card_order"])
    await world.approve(order)
    ordered = (await execute(world, order)).outcome
    assert ordered is not None
    submitted = await world.ask("funding_submit", {"tx_hash": HASH, "network": "POLYGON"})
    await world.approve(submitted)
    ledger = Ledger(world, monkeypatch, 1)
    await ledger_rules.compare(world.core, "main")

    names = {"our_key": topped_up.key, "card": world.cards[0]["id"], "ordered": ordered["card_id"]}
    ledger.rows.append(row(9, "-3800", kind=kind, reference=reference.format(**names) or None, card_id=None))
    await ledger_rules.compare(world.core, "main")

    assert (float_alerts.UNEXPLAINED.name in await alert_kinds(world)) is not is_explained


async def test_the_first_fee_of_an_order_is_no_alarm_while_its_answer_is_on_its_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await world.ask("card_order", TEXTS["card_order"])
    await world.approve(order)
    await world.fault("drop_midway", "POST /cards", times=1)
    assert (await execute(world, order)).state == "executing"
    ledger = Ledger(world, monkeypatch, 1)
    await ledger_rules.compare(world.core, "main")

    ledger.rows.append(row(9, "-1", kind="fee", reference="card-fee:notyetknownnotyetknown:2026-03"))
    await ledger_rules.compare(world.core, "main")

    assert await alert_kinds(world) == set()


async def test_an_order_and_the_turn_of_a_month_are_no_alarm(world: World) -> None:
    await ledger_rules.compare(world.core, "main")
    order = await world.ask("card_order", TEXTS["card_order"])
    await world.approve(order)
    assert (await execute(world, order)).state == "succeeded"
    await world.tell("clock", {"set": "2026-04-01T00:00:30Z"})

    await ledger_rules.compare(world.core, "main")

    assert await alert_kinds(world) == set()


async def test_a_debit_right_after_a_fresh_start_is_reported(world: World) -> None:
    poller = Poller(world.core, account_every=timedelta(seconds=60))
    await poller.first_ledger()
    await world.tell("float", {"amount_usd": "-55"})
    await poller.first_ledger()

    await poller.ledger()

    assert float_alerts.UNEXPLAINED.name in await alert_kinds(world)


async def _ended(world: World, state: State) -> Request:
    """A request for which nothing was sent, in this state."""
    request = await world.top_up("50", approved=state is State.APPROVED)
    if state is State.REJECTED:
        await approvals.reject(world.core, request.id, BOB, reason="wrong card")
    elif state is State.CANCELLED:
        await requests.cancel(world.core, request.id, ALICE)
    elif state is State.EXPIRED:
        await world.advance(timedelta(days=30).total_seconds())
        await requests.expire_due(world.core)
    return await world.request(request.id)


@pytest.mark.parametrize("state", sorted(set(State) - SENT))
@pytest.mark.parametrize("came_back", [False, True], ids=["kept", "came back"])
async def test_a_debit_under_the_key_of_a_request_that_was_never_sent_calls_people_once(
    world: World, monkeypatch: pytest.MonkeyPatch, state: State, came_back: bool
) -> None:
    request = await _ended(world, state)
    assert request.state is state
    ledger = Ledger(world, monkeypatch, 1)
    await ledger_rules.compare(world.core, "main")
    ledger.rows.append(row(9, "-50", reference=f"topup:{request.key}"))
    if came_back:
        ledger.rows.append(row(10, "50", kind="refund", reference=f"topup:{request.key}"))

    for _ in range(2):
        await ledger_rules.compare(world.core, "main")

    (alert,) = [a for a in await open_alerts(world) if a.kind == float_alerts.UNEXPLAINED.name]
    assert (alert.severity, alert.subject, alert.count) == ("critical", request.id, 1)
    assert request.id in alert.title
    assert state.value in alert.title
    assert f"topup:{request.key}" in alert.text


async def test_who_approves_reads_of_a_debit_under_the_key_of_the_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await _ended(world, State.PENDING)
    before = await request_lookups.confirmation(world.core, request.id, BOB)
    assert not any("debit under the key" in concern.text for concern in before.concerns)
    ledger = Ledger(world, monkeypatch, 1)
    await ledger_rules.compare(world.core, "main")
    ledger.rows.append(row(9, "-50", reference=f"topup:{request.key}"))
    await ledger_rules.compare(world.core, "main")

    read = await request_lookups.confirmation(world.core, request.id, BOB)

    assert any("debit under the key of this request already" in concern.text for concern in read.concerns)


@pytest.mark.parametrize("how", ["by an answer of your card provider", "by two people"])
async def test_what_is_called_succeeded_and_came_back_calls_people_and_is_said_on_the_request(
    world: World, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "by two people":
        await world.fault("processor", processor="5xx", times=9)
        request = await execute(world, await world.top_up("50"))
        request = await jump_to_the_end(world, request, within=timedelta(hours=2))
        for person in (BOB, CAROL):
            await approvals.resolve(
                world.core, request.id, person, verdict="succeeded", evidence="It is on the card."
            )
    else:
        request = await execute(world, await world.top_up("50"))
    assert (await world.request(request.id)).state is State.SUCCEEDED
    await ledger_rules.compare(world.core, "main")
    kept = float_alerts.UNEXPLAINED.name
    assert kept not in await alert_kinds(world)

    if how == "by two people":
        await world.tell(f"topups/{request.key}/resolve", {"as": "refunded"})
    else:
        ledger = Ledger(world, monkeypatch, 3)
        await ledger_rules.compare(world.core, "main")
        ledger.rows.append(row(9, "50", kind="refund", reference=f"topup:{request.key}"))
    for _ in range(2):
        await ledger_rules.compare(world.core, "main")

    (alert,) = [a for a in await open_alerts(world) if a.kind == kept]
    assert (alert.severity, alert.subject, alert.count) == ("critical", request.id, 1)
    assert "50.00 USD came back to the float of main" in alert.title
    now = await world.request(request.id)
    assert now.state is State.SUCCEEDED, "what two people or your card provider said is kept"
    assert "After that 50.00 USD came back to the float" in now.outcome_text
    said = await everything_said(world, now)
    assert not any("The card holds" in text for text in said), "that was before it came back"
    assert any("The money came back to the float" in text for text in said), "in its thread"
    assert sum("After that 50.00 USD came back" in text for text in said) >= 2, (
        "on its message and to its requester"
    )


async def a_return(world: World, monkeypatch: pytest.MonkeyPatch, request: Request) -> None:
    """The ledger shows its amount as come back, as of the next reading."""
    client = world.core.partners["main"]
    ledger, at = client.ledger, world.clock.now().isoformat()
    back = row(
        0,
        str(request.exposure_usd),
        kind="refund",
        reference=f"topup:{request.key}",
        card_id=None,
        created_at=at,
    )

    async def with_it(page: int = 1, limit: int = 50, **options: Any) -> Page[LedgerEntry]:
        found = await ledger(page, limit, **options)
        return Page([back, *found.rows], found.total + 1, found.total_pages)

    monkeypatch.setattr(client, "ledger", with_it)


async def test_a_return_that_comes_while_the_outcome_is_not_known_is_looked_at_at_once(world: World) -> None:
    await world.fault("processor", processor="5xx", times=9)
    request = await execute(world, await world.top_up("50"))
    request = await jump_to_the_end(world, request, within=timedelta(hours=2))
    await ledger_rules.compare(world.core, "main")
    await world.run_due()
    await world.tell(f"topups/{request.key}/resolve", {"as": "refunded"})

    await ledger_rules.compare(world.core, "main")
    await world.run_due()

    ended = await world.request(request.id)
    assert ended.state is State.FAILED, ended.outcome_text
    assert "the refund" in ended.outcome_text


async def test_a_return_that_a_look_sees_after_two_people_said_succeeded_is_reported(world: World) -> None:
    await world.fault("processor", processor="5xx", times=9)
    request = await execute(world, await world.top_up("50"))
    request = await jump_to_the_end(world, request, within=timedelta(hours=2))
    await world.tell(f"topups/{request.key}/resolve", {"as": "refunded"})
    await ledger_rules.compare(world.core, "main")
    before = world.core.partners["main"].find_top_up

    async def meanwhile(*given: Any, **named: Any) -> Any:
        found = await before(*given, **named)
        for person in (BOB, CAROL):
            await approvals.resolve(
                world.core, request.id, person, verdict="succeeded", evidence="It is on the card."
            )
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(world.core.partners["main"]), "find_top_up", lambda _, *a, **n: meanwhile(*a, **n))
        await execute(world, request)

    now = await world.request(request.id)
    assert now.state is State.SUCCEEDED
    assert "After that 50.00 USD came back to the float" in now.outcome_text
    assert float_alerts.UNEXPLAINED.name in await alert_kinds(world)


async def test_the_return_of_one_row_is_said_on_the_list_and_to_its_requester(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    batch = await run_to_the_end(world, batch)
    assert "30.00 USD of 30.00 USD moved." in batch.outcome_text
    await ledger_rules.compare(world.core, "main")
    first, _ = await rows_of(world, batch)

    await a_return(world, monkeypatch, first)
    for _ in range(2):
        await ledger_rules.compare(world.core, "main")

    now = await world.request(batch.id)
    assert "20.00 USD of 30.00 USD moved." in now.outcome_text
    assert f"10.00 USD came back to the float after that ({first.id})" in now.outcome_text
    said = [text for text in await everything_said(world, now) if "10.00 USD came back" in text]
    assert len(said) >= 3, "on its message, in its thread and to its requester"


async def test_a_return_is_reported_once_though_the_ledger_is_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await execute(world, await world.top_up("50"))
    ledger = Ledger(world, monkeypatch, 1200)
    await ledger_rules.compare(world.core, "main")
    ledger.rows.append(row(1200, "50", kind="refund", reference=f"topup:{request.key}"))
    await ledger_rules.compare(world.core, "main")

    ledger.rows.insert(-1, row(1199, "-1"))  # committed late, so that it comes before what was read already
    ledger.rows.append(row(1201, "-1"))
    await ledger_rules.compare(world.core, "main")

    now = await world.request(request.id)
    assert now.outcome_text.count("came back to the float") == 1, now.outcome_text
