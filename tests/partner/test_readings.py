"""Single sentences of the document, as the client meets them at the simulator.

In each of its three profiles: what the document leaves open may come in any form.
"""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from bot.partner import codec, errors
from bot.partner.certainty import Certainty
from tests.partner.simulated import World, simulated

HALF = b'{"markup_pct":0.5}'


@pytest.fixture(params=["plausible", "documented", "scrambled"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with simulated(request.param) as world:
        yield world


# Fees and float


@pytest.mark.rule("R042", "R044", "R047")
async def test_the_markup_is_rounded_to_five_places_and_is_not_the_one_on_purchases(world: World) -> None:
    """R042, R044, R047."""
    before = await world.client.fees()

    changed = await world.client.set_fees(b'{"markup_pct":0.123456}')

    assert changed.your_markup_pct == Decimal("0.12346")
    assert changed.total_pct == changed.load_from_float_pct + changed.your_markup_pct
    assert changed.svc_pct == changed.load_from_float_pct < 1
    assert changed.transaction == before.transaction
    assert await world.client.fees() == changed


@pytest.mark.rule("R047")
@pytest.mark.parametrize("body", [b'{"markup_pct":0}', HALF])
async def test_the_ends_of_the_markup_are_taken(world: World, body: bytes) -> None:
    """R047."""
    assert (await world.client.set_fees(body)).your_markup_pct == codec.decode(body)["markup_pct"]


@pytest.mark.rule("R047")
@pytest.mark.parametrize(
    "body", [b'{"markup_pct":"0.1"}', b'{"markup_pct":0.500001}', b'{"markup_pct":-0.1}', b"{}"]
)
async def test_a_markup_beyond_its_ends_or_written_as_text_is_refused(world: World, body: bytes) -> None:
    """R047."""
    with pytest.raises(errors.BadRequest) as refused:
        await world.client.set_fees(body)

    assert refused.value.certainty is Certainty.DEFINITE


@pytest.mark.rule("R046")
async def test_the_example_on_a_hundred_dollars_takes_both_fees_off(world: World) -> None:
    """R046."""
    await world.client.set_fees(HALF)

    example = (await world.client.me()).fees.example_on_100_usd

    assert example.lands_on_card_usd == 100 - example.svc_fee_usd - example.your_fee_usd


@pytest.mark.rule("R049", "R051")
async def test_a_float_below_zero_can_spend_nothing_and_no_ceiling_is_no_zero(world: World) -> None:
    """R049, R051."""
    await world.act("float", {"amount_usd": "-12.5"})

    found = (await world.client.me()).float

    assert (found.balance_usd, found.available_usd) == (Decimal("-12.5"), Decimal(0))
    assert found.limit_usd is None


@pytest.mark.rule("R051", "R068", "R069", "R137")
async def test_no_cap_on_cards_is_told_apart_from_a_cap_that_is_used_up(world: World) -> None:
    """R051, R068, R069, R137: closing gives nothing back."""
    assert (await world.client.me()).cards.remaining is None
    await world.act("account", {"cards_limit": 1})
    card_id = await world.funded_card()
    await world.client.close(card_id, key="c1")

    cards = (await world.client.me()).cards
    with pytest.raises(errors.QuotaExceeded) as refused:
        await world.order("order-2")

    assert (cards.total, cards.active, cards.remaining) == (1, 0, 0)
    assert refused.value.certainty is Certainty.DEFINITE


# Cards


@pytest.mark.rule("R052", "R053", "R054")
async def test_a_new_card_is_empty_and_what_is_not_known_yet_is_none(world: World) -> None:
    """R052, R053, R054."""
    await world.act("clock", {"mode": "frozen"})
    card = await world.client.order_card(world.order_body(), key="o1")
    found = await world.client.card(card.id)

    assert (card.status, card.last4) == (None, None)
    assert found.balance_usd == 0


@pytest.mark.rule("R057")
@pytest.mark.parametrize(("sent", "stored"), [("  Emp 7 ", "  Emp 7 "), ("", None), ("é" * 128, "é" * 128)])
async def test_the_partners_own_reference_comes_back_untouched(
    world: World, sent: str, stored: str | None
) -> None:
    """R057."""
    card = await world.client.order_card(world.order_body(partner_ref=sent), key="o1")

    assert card.partner_ref == stored


@pytest.mark.rule("R078", "R136", "R138")
async def test_a_closed_card_leaves_the_list_and_is_still_read_by_its_id(world: World) -> None:
    """R078, R136, R138: and closing it again under its key gives the amount that was returned."""
    card_id = await world.funded_card()
    await world.top_up(card_id, "10.25")

    closed = await world.client.close(card_id, key="c1")
    again = await world.client.close(card_id, key="c1")

    assert closed.returned_usd == again.returned_usd == Decimal("10.25")
    assert [card async for card in world.client.cards()] == []
    assert (await world.client.card(card_id)).card.status == "DELETED"
    assert [event async for event in world.client.events()] == []


@pytest.mark.rule("R032", "R079")
async def test_a_balance_that_cannot_be_read_is_none_and_the_card_is_there(world: World) -> None:
    """R032, R079."""
    card_id = await world.funded_card()
    await world.act(f"cards/{card_id}", {"balance_readable": False})

    found = await world.client.card(card_id)
    (row,) = await world.client.balances([card_id], refresh=True)

    assert found.card.id == card_id
    assert found.balance_usd is None
    assert (row.ok, row.error) == (False, "UNAVAILABLE")


@pytest.mark.rule("R135")
async def test_a_card_whose_balance_is_unreadable_stays_open_and_can_be_closed_later(world: World) -> None:
    """R135."""
    card_id = await world.funded_card()
    await world.act(f"cards/{card_id}", {"balance_readable": False})

    with pytest.raises(errors.Unavailable) as refused:
        await world.client.close(card_id, key="c1")
    still = await world.client.card(card_id)
    await world.act(f"cards/{card_id}", {"balance_readable": True})

    assert (refused.value.status, refused.value.certainty) == (503, Certainty.TRANSIENT)
    assert still.card.status != "DELETED"
    assert (await world.client.close(card_id, key="c1")).returned_usd == 0


@pytest.mark.rule("R082", "R084")
async def test_balances_come_in_the_order_asked_for_and_a_foreign_card_is_a_row(world: World) -> None:
    """R082, R084."""
    await world.act("float", {"amount_usd": "100"})
    first, second = await world.order("o1"), await world.order("o2")

    rows = await world.client.balances([second, "nobody", first])

    assert [row.card_id for row in rows] == [second, "nobody", first]
    assert [row.error for row in rows] == [None, "NOT_FOUND", None]


@pytest.mark.rule("R023", "R085")
async def test_a_thousand_balances_cost_one_call(world: World) -> None:
    """R023, R085: the fleet as cached."""
    await world.act("float", {"amount_usd": "100"})
    ids = {await world.order(f"o{number}") for number in range(3)}

    found = {row.card_id async for row in world.client.fleet_balances()}

    assert found == ids
    assert len(await world.journal("POST", "/cards/balances")) == 1


@pytest.mark.rule("R089", "R128")
async def test_freezing_echoes_what_was_asked_and_the_other_value_goes_through_as_well(world: World) -> None:
    """R089, R128."""
    await world.act("account", {"first_sync": "immediate"})
    card_id = await world.funded_card()

    answers = [await world.client.freeze(card_id, codec.encode({"frozen": value})) for value in (True, False)]

    assert [answer.frozen for answer in answers] == [True, False]
    assert (await world.client.card(card_id)).card.status == "ACTIVE"


# Top-up and unload


@pytest.mark.rule("R096", "R099", "R100", "R101")
async def test_a_replay_gives_the_first_amounts_and_the_balance_of_now(world: World) -> None:
    """R096, R099, R100, R101: whatever the new body says."""
    card_id = await world.funded_card("1000")
    first = await world.top_up(card_id, "25.00")
    await world.top_up(card_id, "100", key="k2")

    again = await world.top_up(card_id, "77.00")

    assert (again.credited_usd, again.amount_requested_usd, again.fee_usd) == tuple(map(Decimal, (25, 25, 0)))
    assert again.partner_balance_usd == first.partner_balance_usd - 100


@pytest.mark.rule("R113", "R114")
async def test_money_already_off_the_float_is_no_row_of_a_key_that_begins_the_same(world: World) -> None:
    """R113, R114."""
    card_id = await world.funded_card()
    await world.top_up(card_id, "25.00", key="k10")

    assert (await world.client.find_top_up("k1")).rows == ()
    assert len((await world.client.find_top_up("k10")).rows) == 1


@pytest.mark.rule("R118", "R119")
async def test_an_unload_is_reported_once_however_often_it_is_replayed(world: World) -> None:
    """R118, R119; U2."""
    card_id = await world.funded_card()
    await world.top_up(card_id)

    first = await world.client.unload(card_id, b'{"amount_usd":5}', key="u1")
    again = await world.client.unload(card_id, b'{"amount_usd":5}', key="u1")

    assert first.unloaded_usd == again.unloaded_usd == 5
    assert [event.type async for event in world.client.events()] == ["card.unloaded"]


@pytest.mark.rule("R029", "R030", "R031")
@pytest.mark.parametrize("amount", [b'"25.00"', b"0.001", b"0", b"true", b"0.30000000000000004"])
async def test_an_amount_that_is_no_number_of_cents_is_refused_and_the_key_given_up(
    world: World, amount: bytes
) -> None:
    """R029, R030, R031."""
    card_id = await world.funded_card()

    for call, key in ((world.client.top_up, "k1"), (world.client.unload, "u1")):
        with pytest.raises(errors.BadRequest) as refused:
            await call(card_id, b'{"amount_usd":%s}' % amount, key=key)
        assert refused.value.certainty is Certainty.DEFINITE_KEY_SPENT


# Funding


@pytest.mark.rule("R187")
async def test_where_addresses_cannot_be_read_none_is_given(world: World) -> None:
    """R187."""
    await world.act("account", {"addresses_unreadable": ["POLYGON"]})

    with pytest.raises(errors.Unavailable) as refused:
        await world.client.funding_addresses()

    assert refused.value.certainty is Certainty.TRANSIENT


@pytest.mark.rule("R167")
async def test_a_network_that_is_not_listed_is_refused_and_nothing_stored(world: World) -> None:
    """R167."""
    await world.act("account", {"networks": ["BASE"]})

    with pytest.raises(errors.BadRequest):
        await world.client.submit_funding(codec.encode({"tx_hash": "0x" + "1" * 64, "network": "POLYGON"}))

    assert await world.client.funding_list() == []


@pytest.mark.rule("R173", "R175")
@pytest.mark.parametrize("funding_id", ["8bb73fed-e2a0-4e5b-ae83-4e97c0727f82", "no-uuid-at-all"])
async def test_a_submission_that_is_none_of_ours_is_not_found_whatever_its_id_looks_like(
    world: World, funding_id: str
) -> None:
    """R173, R175 as the client meets them."""
    with pytest.raises(errors.NotFound):
        await world.client.funding(funding_id)


@pytest.mark.rule("R020", "R171")
async def test_a_sixth_unverified_hash_is_too_many_and_a_repeat_of_one_is_not(world: World) -> None:
    """R020, R171."""
    await world.act("scenarios/funding-five-unverified")
    mine = await world.client.funding_list()
    body = {"tx_hash": mine[0].tx_hash, "network": mine[0].network}

    with pytest.raises(errors.TooManyPending) as refused:
        await world.client.submit_funding(codec.encode({**body, "tx_hash": "0x" + "e" * 64}))

    assert refused.value.retry_after is None
    assert (await world.client.submit_funding(codec.encode(body))).id == mine[0].id


@pytest.mark.rule("R183", "R184")
async def test_credited_elsewhere_has_no_figures_and_a_reversal_keeps_its_own(world: World) -> None:
    """R183, R184: only the status tells whether it was credited."""
    apart = await world.funding_scenario("credited-credited_separately")
    reversed_ = await world.funding_scenario("rejected-reversed_by_operator")

    assert (apart.status, apart.reason) == ("credited", "credited_separately")
    assert (apart.fee_usd, apart.credited_usd) == (None, None)
    assert (reversed_.status, reversed_.reason) == ("rejected", "reversed_by_operator")
    assert reversed_.credited_usd is not None


@pytest.mark.rule("R177")
@pytest.mark.parametrize("status", ["review", "rejected"])
async def test_one_reason_comes_with_two_statuses(world: World, status: str) -> None:
    """R177."""
    found = await world.funding_scenario(f"{status}-unregistered_sender")

    assert (found.status, found.reason) == (status, "unregistered_sender")


# Errors


@pytest.mark.rule("R002")
async def test_only_the_code_decides_what_an_error_is(world: World) -> None:
    """R002: the service's sentence is shown and never read."""
    card_id = await world.funded_card("1")

    with pytest.raises(errors.InsufficientFunds) as refused:
        await world.top_up(card_id, "999")
    seen: dict[str, Any] = refused.value.body

    assert seen["code"] == "INSUFFICIENT_FUNDS"
    assert seen["error"] == refused.value.message != ""
