"""What the document says of funding, the ledger and the float, as the client meets it at the simulator."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.money import exact_sum
from bot.partner import codec, errors, models
from bot.partner.certainty import Certainty
from tests.partner.simulated import World, simulated

TOP_UP = "POST /cards/{cardId}/topup"


@pytest.fixture(params=["plausible", "documented", "scrambled"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with simulated(request.param) as world:
        yield world


# Funding


@pytest.mark.rule("R180", "R185")
async def test_every_status_and_reason_of_funding_can_be_met_and_is_known(world: World) -> None:
    """R180, R185: and none but a credit makes an event."""
    reasons = (
        ("rejected", models.REJECTED_REASONS),
        ("review", models.REVIEW_REASONS),
        ("credited", models.CREDITED_REASONS),
    )

    for status, known in reasons:
        for reason in known:
            found = await world.funding_scenario(f"{status}-{reason}")
            assert (found.status, found.reason) == (status, reason)
            shown = {
                event.payload["funding_id"]
                async for event in world.client.events(event_type="float.credited")
            }
            assert (found.id in shown) is (reason == "reversed_by_operator"), "it was credited before"


@pytest.mark.rule("R182", "R259")
async def test_an_amount_is_what_was_sent_and_the_fee_is_on_what_was_credited(world: World) -> None:
    """R182, R259: a review may credit less."""
    shown = await world.act("scenarios/funding-review-unregistered_sender")
    sent = await world.client.submit_funding(codec.encode(shown["submit"]))
    await world.act(f"funding/{sent.id}/decide", {"decision": "credit", "amount_usd": "100"})

    found = await world.client.funding(sent.id)
    (event,) = [
        e
        async for e in world.client.events(event_type="float.credited")
        if e.payload["funding_id"] == sent.id
    ]

    assert sent.amount_usd is not None
    assert found.amount_usd == sent.amount_usd > 100
    assert found.fee_usd is not None
    assert found.fee_usd + (found.credited_usd or 0) == 100
    assert event.payload["credited_usd"] == found.credited_usd


@pytest.mark.rule("R184", "R186", "R198")
async def test_a_reversal_is_two_rows_and_the_balance_falls_by_what_was_credited(world: World) -> None:
    """R184, R186, R198. The reference of the fee's return is not shown, so it is recognised by kind and sign."""
    found = await world.funding_scenario("rejected-reversed_by_operator")
    ledger = [row async for row in world.client.ledger_entries()]
    (back,) = (r for r in ledger if r.reference == f"funding-reversal-{found.network}-{found.tx_hash}")
    (fee_back,) = (r for r in ledger if r.kind == "fee" and r.amount_usd > 0)
    there = {row.reference: row for row in ledger if found.tx_hash in (row.reference or "")}
    rows = [back, fee_back, *(row for row in there.values() if row not in (back, fee_back))]

    assert (back.kind, back.amount_usd) == ("funding", -(found.amount_usd or 0))
    assert fee_back.amount_usd == found.fee_usd
    assert there[f"funding-{found.network}-{found.tx_hash}"].amount_usd == found.amount_usd
    assert there[f"funding-{found.network}-{found.tx_hash}:fee"].amount_usd == -(found.fee_usd or 0)
    assert exact_sum(row.amount_usd for row in rows) == 0
    assert all(row.card_id is None for row in rows)


@pytest.mark.rule("R168")
async def test_a_hash_on_the_wrong_network_is_put_right_under_its_own_id(world: World) -> None:
    """R168."""
    shown = await world.act("scenarios/funding-wrong-network")
    wrong = await world.client.submit_funding(codec.encode(shown["submit"]))
    (right,) = {"POLYGON", "BNB", "BASE"} - {wrong.network} - {"BASE" if wrong.network != "BASE" else "BNB"}

    again = await world.client.submit_funding(codec.encode({"tx_hash": wrong.tx_hash, "network": right}))

    assert (again.id, again.created_at) == (wrong.id, wrong.created_at)
    assert again.network == right != wrong.network


@pytest.mark.rule("R188")
async def test_addresses_come_one_a_network_in_their_order_with_their_tokens(world: World) -> None:
    """R188."""
    await world.act("account", {"networks": ["BASE", "POLYGON"]})

    found = await world.client.funding_addresses()

    assert [address.network for address in found] == ["POLYGON", "BASE"]
    assert all(set(address.tokens) <= set(models.TOKENS) and address.tokens for address in found)


# Ledger


@pytest.mark.rule("R199", "R200", "R202")
async def test_what_a_row_belongs_to_is_where_its_kind_says(world: World) -> None:
    """R199, R200, R202: a monthly fee and an order name their card in other places than `card_id`."""
    card_id = await world.funded_card()
    await world.top_up(card_id)
    rows = [row async for row in world.client.ledger_entries()]
    (debit,) = [row for row in rows if row.kind == "card_topup"]
    (fee,) = [row for row in rows if row.kind == "fee"]
    orders = [row for row in rows if row.kind == "adjustment" and row.description == card_id]

    assert (debit.card_id, debit.amount_usd, debit.reference) == (card_id, Decimal(-25), "topup:k1")
    assert card_id in (fee.reference or "")
    assert fee.card_id is None
    assert [(row.amount_usd, row.card_id) for row in orders] == [(Decimal(0), None)]


@pytest.mark.rule("R193", "R194", "R196")
async def test_newest_first_and_past_the_end_the_total_says_nothing(world: World) -> None:
    """R193, R194, R196."""
    for number in range(3):
        await world.act("float", {"amount_usd": f"{number + 1}"})

    first = await world.client.ledger(page=1, limit=2)
    last = await world.client.ledger(page=2, limit=2)
    beyond = await world.client.ledger(page=9, limit=2)

    amounts = [row.amount_usd for row in (*first.rows, *last.rows)]
    assert amounts == [3, 2, 1]
    assert (first.total, first.total_pages) == (3, 2)
    assert (list(beyond.rows), beyond.total) == ([], 0)
    assert beyond.total_pages >= 1
    with pytest.raises(errors.BadRequest):
        await world.client.ledger(limit=101)


@pytest.mark.rule("R201", "R203")
async def test_money_that_came_back_from_a_card_lowers_what_was_spent(world: World) -> None:
    """R201, R203."""
    card_id = await world.funded_card()
    await world.top_up(card_id)
    before = (await world.client.me()).float
    await world.client.close(card_id, key="c1")
    after = (await world.client.me()).float

    assert after.spent_usd == before.spent_usd - 25
    assert after.balance_usd == after.funded_usd - after.spent_usd
    refunds = [row.amount_usd async for row in world.client.ledger_entries() if row.kind == "refund"]
    assert refunds == [25]


@pytest.mark.rule("R050", "R103")
async def test_fees_lower_the_balance_and_leave_the_headroom(world: World) -> None:
    """R050, R103: 402 may come with a large balance."""
    await world.act("float", {"amount_usd": "1000"})
    await world.act("account", {"float_limit_usd": "100", "monthly_fee_usd": "5"})
    card_id = await world.order()

    found = (await world.client.me()).float
    with pytest.raises(errors.InsufficientFunds):
        await world.top_up(card_id, "100.01")
    done = await world.top_up(card_id, "100")

    assert found.available_usd == found.limit_usd == 100
    assert done.partner_balance_usd == found.balance_usd - 100


# Top-up, once more


@pytest.mark.rule("R092", "R094", "R102", "R112")
async def test_between_debit_and_outcome_the_money_is_off_the_float_and_the_key_in_the_way(
    world: World,
) -> None:
    """R092, R094, R102, R112: never a new key."""
    card_id = await world.funded_card()
    await world.fault(TOP_UP, "drop_midway")

    with pytest.raises(errors.NoAnswer) as lost:
        await world.top_up(card_id)
    evidence = await world.client.find_top_up("k1")
    with pytest.raises(errors.AlreadyProcessed) as bound:
        await world.top_up(card_id)

    assert lost.value.certainty is bound.value.certainty is Certainty.AMBIGUOUS
    assert evidence.debit is not None
    assert evidence.refund is None
    assert (await world.client.card(card_id)).balance_usd == 0


@pytest.mark.rule("R098")
async def test_a_closed_card_refuses_a_new_top_up_and_replays_an_old_one(world: World) -> None:
    """R098."""
    card_id = await world.funded_card()
    await world.top_up(card_id)
    await world.client.close(card_id, key="c1")

    with pytest.raises(errors.BadRequest) as refused:
        await world.top_up(card_id, key="k2")

    assert refused.value.certainty is Certainty.DEFINITE_KEY_SPENT
    assert (await world.top_up(card_id)).credited_usd == 25


@pytest.mark.rule("R106", "R110")
async def test_after_a_timeout_at_the_processor_nothing_comes_back_by_itself(world: World) -> None:
    """R106, R110."""
    await world.act("clock", {"mode": "frozen"})
    card_id = await world.funded_card()
    await world.fault(TOP_UP, "processor", processor="timeout")
    with pytest.raises(errors.Unavailable):
        await world.top_up(card_id)

    await world.act("clock", {"advance_seconds": 3 * 86_400})
    evidence = await world.client.find_top_up("k1")

    assert evidence.debit is not None
    assert evidence.refund is None


@pytest.mark.rule("R120", "R121")
async def test_an_unload_that_stopped_midway_is_nowhere_and_no_call_of_ours_settles_it(world: World) -> None:
    """R120, R121."""
    card_id = await world.funded_card()
    await world.top_up(card_id)
    before = (await world.client.me()).float.balance_usd
    await world.fault("POST /cards/{cardId}/unload", "drop_midway")

    with pytest.raises(errors.NoAnswer):
        await world.client.unload(card_id, b'{"amount_usd":10}', key="u1")
    with pytest.raises(errors.AlreadyProcessed) as again:
        await world.client.unload(card_id, b'{"amount_usd":10}', key="u1")

    assert again.value.certainty is Certainty.AMBIGUOUS
    assert (await world.client.card(card_id)).balance_usd == 15
    assert (await world.client.me()).float.balance_usd == before


# Keys and cards


@pytest.mark.rule("R012", "R115")
async def test_a_key_for_cards_alone_can_move_money_and_not_find_out_what_became_of_it(world: World) -> None:
    """R012, R115."""
    card_id = await world.funded_card()
    key = (await world.act("keys", {"scopes": ["cards:read", "cards:write"]}))["key"]
    client = world.other_client(key)

    await client.top_up(card_id, b'{"amount_usd":1}', key="k9")
    for call in (client.me, client.ledger):
        with pytest.raises(errors.Forbidden, match="users:read") as refused:
            await call()
        assert refused.value.certainty is Certainty.DEFINITE
    await client.aclose()


@pytest.mark.rule("R059", "R063")
@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("  José Łukasz ", "JOSE LUKASZ"),
        ("Jürgen Größe".replace("ß", "ss"), "JÜRGEN GRÖSSE"),
        ("O'Neil-Smith", "O'NEIL-SMITH"),
    ],
)
async def test_a_name_comes_back_as_it_is_printed(world: World, typed: str, stored: str) -> None:
    """R059, R063."""
    card = await world.client.order_card(world.order_body(card_holder_name=typed), key="o1")

    assert card.card_holder_name == stored


@pytest.mark.rule("R064", "R067", "R256")
@pytest.mark.parametrize(
    "changes", [{"phone_country_code": "49"}, {"phone_country_code": True}, {"phone": 123456}]
)
async def test_a_detail_of_the_wrong_kind_is_a_bad_request_and_names_no_detail(
    world: World, changes: dict[str, Any]
) -> None:
    """R064, R067, R256."""
    with pytest.raises(errors.BadRequest) as refused:
        await world.order(**changes)

    assert refused.value.certainty is Certainty.DEFINITE_KEY_SPENT


@pytest.mark.rule("R070", "R130")
async def test_a_frozen_card_counts_as_active_and_keeps_its_balance(world: World) -> None:
    """R070, R130."""
    card_id = await world.funded_card()
    await world.top_up(card_id)

    await world.client.freeze(card_id, b'{"frozen":true}')

    assert (await world.client.me()).cards.active == 1
    assert (await world.client.card(card_id)).balance_usd == 25


@pytest.mark.rule("R126", "R127")
@pytest.mark.parametrize("body", [b'{"frozen":"true"}', b'{"frozen":1}', b"{}"])
async def test_freezing_takes_a_boolean_and_an_unknown_card_comes_first(world: World, body: bytes) -> None:
    """R126, R127."""
    card_id = await world.funded_card()

    with pytest.raises(errors.BadRequest) as refused:
        await world.client.freeze(card_id, body)
    with pytest.raises(errors.NotFound):
        await world.client.freeze("nobody", body)

    assert refused.value.certainty is Certainty.DEFINITE


@pytest.mark.rule("R131", "R132")
async def test_neither_a_closed_nor_a_blocked_card_is_thawed(world: World) -> None:
    """R131, R132."""
    closed, blocked = await world.funded_card(), await world.order("order-2")
    await world.client.close(closed, key="c1")
    await world.act(f"cards/{blocked}", {"status": "BLOCKED"})

    for card_id in (closed, blocked):
        with pytest.raises(errors.BadRequest):
            await world.client.freeze(card_id, b'{"frozen":false}')

    assert (await world.client.card(blocked)).card.status == "BLOCKED"


@pytest.mark.rule("R235", "R236")
async def test_events_can_be_read_with_no_webhook_registered_and_since_is_counted_in(world: World) -> None:
    """R235, R236."""
    card_id = await world.funded_card()
    for value in (b"true", b"false"):
        await world.client.freeze(card_id, b'{"frozen":%s}' % value)

    events = [event async for event in world.client.events()]
    newest = [event.id async for event in world.client.events(since=events[0].created_at)]

    assert [event.payload["reason"] for event in events] == ["partner_unfreeze", "partner_freeze"]
    assert events[0].id in newest
    assert not any(event.delivered for event in events)
