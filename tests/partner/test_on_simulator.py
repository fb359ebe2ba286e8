"""The real client against the simulator, an independent reading of the same document, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.money import exact_sum
from bot.domain.time import SystemClock
from bot.partner import codec, endpoints, errors
from bot.partner.calls import cards as card_calls
from bot.partner.certainty import Certainty, documented
from bot.partner.client import ENDPOINTS, PartnerClient
from bot.partner.endpoints import Facts
from bot.partner.errors import CLASSES
from bot.partner.ratelimit import RateLimiter
from tests.partner.every_call import HASH, call
from tests.partner.simulated import World, simulated
from tests.support.clock import FrozenClock

pytestmark = pytest.mark.by_turns(4)


@pytest.fixture(params=["plausible", "documented", "scrambled"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with simulated(request.param) as world:
        yield world


@pytest.fixture
async def plain_world() -> AsyncIterator[World]:
    """For what takes long and knows no profile."""
    async with simulated() as world:
        yield world


TOP_UP = "POST /cards/{cardId}/topup"


@pytest.mark.rule("R197")
async def test_a_day_of_reads_fits_the_models_and_the_ledger_adds_up_to_the_float(world: World) -> None:
    """R197."""
    await world.act("scenarios/happy-day")

    me = await world.client.me()
    fees = await world.client.fees()
    cards = [card async for card in world.client.cards()]
    found = await world.client.card(cards[0].id)
    balances = await world.client.balances([card.id for card in cards] + ["nobody"])
    fleet = await world.client.balances()
    entries = [entry async for entry in world.client.ledger_entries()]

    assert me.key.prefix == world.client.key_prefix == "svc_live_00000000"
    assert me.cards.total == len(cards) == 6
    assert exact_sum(entry.amount_usd for entry in entries) == me.float.balance_usd
    assert fees.svc_pct == fees.load_from_float_pct
    assert found.card == cards[0]
    assert [row.card_id for row in balances] == [*(card.id for card in cards), "nobody"]
    assert (balances[-1].ok, balances[-1].error, balances[-1].balance_usd) == (False, "NOT_FOUND", None)
    assert {row.card_id for row in fleet} == {card.id for card in cards}


@pytest.mark.rule("R056")
async def test_ids_that_differ_only_in_case_are_two_cards(world: World) -> None:
    """R056."""
    await world.act("scenarios/happy-day")
    ids = [card.id async for card in world.client.cards()]
    twins = [card_id for card_id in ids if card_id.swapcase() in ids]

    holders = {(await world.client.card(card_id)).card.card_holder_name for card_id in twins}

    assert len(twins) == len(holders) == 2


async def test_a_card_is_ordered_topped_up_frozen_and_closed(world: World) -> None:
    await world.act("account", {"first_sync": "immediate"})
    card_id = await world.funded_card()

    done = await world.top_up(card_id, "25.50")
    await world.client.freeze(card_id, b'{"frozen":true}')
    frozen = await world.client.card(card_id)
    events = [event async for event in world.client.events(event_type="card.status_changed")]
    closed = await world.client.close(card_id, key="c1")
    gone = await world.client.card(card_id)

    assert (done.card_id, done.credited_usd, done.fee_usd) == (card_id, Decimal("25.50"), Decimal(0))
    assert (frozen.card.status, frozen.balance_usd) == ("FROZEN", Decimal("25.50"))
    assert frozen.card.card_holder_name == "JOSE LUKASZ"
    assert [event.payload["reason"] for event in events] == ["partner_freeze"]
    assert closed.returned_usd == Decimal("25.50")
    assert gone.card.status == "DELETED"
    assert [card async for card in world.client.cards()] == []


async def test_unloading_gives_back_what_was_asked(world: World) -> None:
    card_id = await world.funded_card()
    await world.top_up(card_id, "25.50")

    done = await world.client.unload(card_id, b'{"amount_usd":5.25}', key="u1")
    with pytest.raises(errors.InsufficientFunds) as refused:
        await world.client.unload(card_id, b'{"amount_usd":500}', key="u2")

    assert done.unloaded_usd == Decimal("5.25")
    assert refused.value.certainty is Certainty.DEFINITE
    assert (await world.client.card(card_id)).balance_usd == Decimal("20.25")


@pytest.mark.rule("R096", "R099")
@pytest.mark.parametrize("effect", ["drop_after_commit", "garbage"])
async def test_after_an_answer_lost_behind_the_commit_the_same_key_tells_and_the_debit_is_one(
    world: World, effect: str
) -> None:
    """H1; R096, R099."""
    card_id = await world.funded_card()
    await world.fault(TOP_UP, effect)

    with pytest.raises(errors.NoAnswer) as lost:
        await world.top_up(card_id)
    evidence = await world.client.find_top_up("k1")
    again = await world.top_up(card_id)

    assert lost.value.certainty is Certainty.AMBIGUOUS
    assert evidence.debit is not None
    assert evidence.debit.amount_usd == -25
    assert again.credited_usd == 25
    assert len((await world.client.find_top_up("k1")).rows) == 1


@pytest.mark.parametrize("effect", ["drop_before_commit", "reset"])
async def test_after_an_answer_lost_before_the_commit_the_ledger_shows_nothing(
    world: World, effect: str
) -> None:
    card_id = await world.funded_card()
    await world.fault(TOP_UP, effect)

    with pytest.raises(errors.NoAnswer) as lost:
        await world.top_up(card_id)
    evidence = await world.client.find_top_up("k1")

    assert lost.value.certainty is Certainty.AMBIGUOUS
    assert (evidence.debit, evidence.refund) == (None, None)
    assert (await world.top_up(card_id)).credited_usd == 25


async def test_a_server_that_hangs_is_given_up_at_the_deadline(
    plain_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    card_id = await plain_world.funded_card()
    await plain_world.fault(TOP_UP, "hang", seconds=3)
    monkeypatch.setattr(endpoints, "_DEADLINE_MARGIN_SECONDS", 0.1)
    monkeypatch.setattr(card_calls.TOP_UP, "facts", Facts(changes=True, read_seconds=0.2))

    with pytest.raises(errors.NoAnswer):
        async with asyncio.timeout(2):
            await plain_world.top_up(card_id)


@pytest.mark.rule("R106", "R112")
async def test_a_processor_failure_leaves_the_debit_alone_and_the_key_bound(world: World) -> None:
    """R106, R112; topup-processor-5xx-then-credited."""
    card_id = await world.funded_card()
    await world.fault(TOP_UP, "processor", processor="5xx")

    with pytest.raises(errors.Unavailable) as failed:
        await world.top_up(card_id)
    evidence = await world.client.find_top_up("k1")
    with pytest.raises(errors.AlreadyProcessed) as bound:
        await world.top_up(card_id)
    await world.act("topups/k1/resolve", {"as": "credited"})
    done = await world.top_up(card_id)

    assert (failed.value.status, failed.value.certainty) == (502, Certainty.AMBIGUOUS)
    assert evidence.debit is not None
    assert evidence.refund is None
    assert bound.value.certainty is Certainty.AMBIGUOUS
    assert done.credited_usd == 25


@pytest.mark.rule("R093", "R105", "R106", "R107", "R111", "R113")
@pytest.mark.parametrize("refund_reference", ["suffixed", "same"])
@pytest.mark.parametrize(
    ("processor", "kind", "certainty"),
    [
        ("401", errors.UpstreamAuth, Certainty.DEFINITE_KEY_SPENT),
        ("409", errors.Unavailable, Certainty.AMBIGUOUS),
        ("400", errors.BadRequest, Certainty.DEFINITE_KEY_SPENT),
        ("capacity", errors.QuotaExceeded, Certainty.DEFINITE_KEY_SPENT),
    ],
)
async def test_a_top_up_that_came_back_shows_debit_and_refund_and_its_key_is_spent(
    world: World, processor: str, kind: type[errors.Refused], certainty: Certainty, refund_reference: str
) -> None:
    """R093, R105, R106, R107, R111, R113; U26."""
    card_id = await world.funded_card()
    await world.act("account", {"refund_reference": refund_reference})
    await world.fault(TOP_UP, "processor", processor=processor)

    with pytest.raises(kind) as refused:
        await world.top_up(card_id)
    evidence = await world.client.find_top_up("k1")
    with pytest.raises(errors.AlreadyProcessed):
        await world.top_up(card_id)

    assert refused.value.certainty is certainty
    assert evidence.debit is not None
    assert evidence.refund is not None
    assert evidence.debit.amount_usd + evidence.refund.amount_usd == 0


@pytest.mark.rule("R095", "R097")
async def test_a_key_of_another_card_is_already_processed_and_a_wrong_card_is_not_found(world: World) -> None:
    """R095, R097."""
    card_id = await world.funded_card()
    other = await world.order("order-2")
    await world.top_up(card_id)

    with pytest.raises(errors.AlreadyProcessed):
        await world.top_up(other)
    with pytest.raises(errors.NotFound) as unknown:
        await world.top_up(card_id.swapcase())

    assert unknown.value.certainty is Certainty.DEFINITE


@pytest.mark.rule("R103", "R104")
async def test_more_than_the_float_is_refused_and_the_key_stays_unused(world: World) -> None:
    """R103, R104."""
    card_id = await world.funded_card("30")

    with pytest.raises(errors.InsufficientFunds) as refused:
        await world.top_up(card_id, "500")
    await world.act("float", {"amount_usd": "500"})

    assert refused.value.certainty is Certainty.DEFINITE
    assert (await world.top_up(card_id, "500")).credited_usd == 500


@pytest.mark.rule("R071", "R072")
async def test_an_order_whose_answer_was_lost_makes_no_second_card(world: World) -> None:
    """R071, R072."""
    await world.act("float", {"amount_usd": "100"})
    await world.fault("POST /cards", "drop_after_commit")
    with pytest.raises(errors.NoAnswer):
        await world.order("o1")

    again = await world.order("o1")

    assert [card.id async for card in world.client.cards()] == [again]


@pytest.mark.rule("R061", "R065", "R067")
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"card_holder_name": "Straße"}, "card_holder_name"),
        ({"card_holder_name": "A" * 27}, "card_holder_name"),
        ({"email": "nobody"}, "email"),
        ({"phone": "1111111111"}, "phone"),
    ],
)
async def test_a_refused_detail_of_the_holder_names_its_field_and_not_its_value(
    world: World, changes: dict[str, Any], field: str
) -> None:
    """R061, R065, R067."""
    with pytest.raises(errors.InvalidDetail) as refused:
        await world.order(**changes)

    assert refused.value.field == field
    assert not any(value in str(vars(refused.value)) for value in changes.values())


@pytest.mark.rule("R001", "R002", "R003", "R004")
async def test_every_documented_error_of_every_call_arrives_as_its_class_over_http(
    plain_world: World,
) -> None:
    """R001 to R004, for every endpoint that the simulator describes."""
    card_id = await plain_world.funded_card()
    described = (await plain_world.control.get(f"{plain_world.running.base_url}/openapi.json")).json()[
        "paths"
    ]
    served = [op for op in ENDPOINTS if op.method.lower() in described.get(op.template, {})]
    key = (await plain_world.act("keys", {"rate_limit_per_minute": 100_000}))["key"]
    client = plain_world.other_client(key)

    for operation in served:
        for status, code in documented(operation):
            if code == "RATE_LIMITED":
                continue
            await plain_world.control.delete(f"{plain_world.running.control_url}/faults")
            await plain_world.fault(operation.value, "status", status=status, code=code, times=9)
            with pytest.raises(CLASSES[code]) as refused:
                await call(client, operation, card_id)
            assert (refused.value.status, refused.value.code) == (status, code)
            assert refused.value.certainty is documented(operation)[status, code]

    assert served == list(ENDPOINTS)
    await client.aclose()


@pytest.mark.rule("R018", "R022")
async def test_a_key_over_its_rate_is_notified_and_the_client_had_learnt_the_figure(world: World) -> None:
    """R018, R022."""
    key = (await world.act("keys", {"rate_limit_per_minute": 3}))["key"]
    clock = FrozenClock()
    limiter = RateLimiter(clock)
    client = PartnerClient(world.running.base_url, key, limiter=limiter, clock=clock)
    careless_limiter = RateLimiter(clock)
    careless = PartnerClient(world.running.base_url, key, limiter=careless_limiter, clock=clock)

    await client.me()
    assert limiter.per_minute == 3
    await careless.fees()
    assert careless_limiter.per_minute == 3, "learnt from the headers, without GET /me"
    await careless.fees()
    with pytest.raises(errors.RateLimited) as limited:
        await careless.submit_funding(codec.encode({"tx_hash": HASH, "network": "BSC"}))

    assert limited.value.retry_after == 60
    assert limited.value.certainty is Certainty.TRANSIENT
    for other in (client, careless):
        await other.aclose()


@pytest.mark.rule("R007", "R008", "R010")
async def test_a_scope_that_is_missing_is_named_and_a_revoked_key_is_not_explained(world: World) -> None:
    """R007, R008, R010."""
    key = (await world.act("keys", {"scopes": ["cards:read"]}))["key"]
    client = world.other_client(key)
    card_id = await world.funded_card()

    assert len(await client.balances([card_id])) == 1
    with pytest.raises(errors.Forbidden, match="users:read"):
        await client.me()
    await world.act("keys", {"key": key, "revoked": True})
    with pytest.raises(errors.Unauthorized):
        await client.card(card_id)
    await client.aclose()


async def test_the_journal_shows_the_frozen_bytes_and_the_key_as_they_were_handed_in(world: World) -> None:
    card_id = await world.funded_card()
    await world.client.top_up(card_id, b'{"amount_usd" : 25.00}', key="co-1_A")

    journal = (await world.control.get(f"{world.running.control_url}/journal")).json()["requests"]
    sent = [request for request in journal if request["path"].endswith("/topup")]

    assert [request["idempotency_key"] for request in sent] == ["co-1_A"]
    assert world.running.key not in str(journal)


@pytest.mark.rule("R117")
async def test_two_top_ups_at_once_under_one_key_make_one_debit(world: World) -> None:
    """R117."""
    card_id = await world.funded_card()
    await world.fault(TOP_UP, "delay", seconds=0.2)

    results = await asyncio.gather(world.top_up(card_id), world.top_up(card_id), return_exceptions=True)

    assert sum(isinstance(result, errors.AlreadyProcessed) for result in results) == 1
    assert len((await world.client.find_top_up("k1")).rows) == 1


@pytest.mark.rule("R193", "R195")
async def test_a_ledger_of_many_pages_is_one_sum(plain_world: World) -> None:
    """R193, R195."""
    for number in range(230):
        await plain_world.act("float", {"amount_usd": f"0.{number + 1:010d}"})

    entries = [entry async for entry in plain_world.client.ledger_entries()]
    me = await plain_world.client.me()

    assert len(entries) == 230
    assert exact_sum(entry.amount_usd for entry in entries) == me.float.balance_usd == Decimal("0.0000026565")


@pytest.mark.rule("R165", "R166")
async def test_funding_is_submitted_listed_and_read_in_every_profile(world: World) -> None:
    """R165, R166; N3."""
    body = codec.encode({"tx_hash": HASH, "network": "bsc"})

    addresses = await world.client.funding_addresses()
    sent = await world.client.submit_funding(body)
    again = await world.client.submit_funding(body)
    found = await world.client.funding(sent.id)

    assert [address.network for address in addresses] == ["POLYGON", "BNB", "BASE"]
    assert (sent.network, sent.tx_hash, sent.status) == ("BNB", HASH.lower(), "pending")
    assert sent == again == found
    assert [funding.id for funding in await world.client.funding_list()] == [sent.id]


def test_the_system_clock_is_a_clock_for_the_client() -> None:
    clock = SystemClock()

    assert clock.now().tzinfo is not None
    assert clock.monotonic() <= clock.monotonic()
