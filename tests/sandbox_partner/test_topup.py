"""Top-up: every outcome of the table, seen with a raw client."""

import asyncio
from decimal import Decimal

import httpx
import pytest

from tests.sandbox_partner.conftest import ORDER, Api, Hand


@pytest.fixture
async def card(api: Api, hand: Hand) -> str:
    await hand("account", monthly_fee_usd="0")
    await hand("float", amount_usd="100")
    return await api.order()


async def rows_of(api: Api, key: str) -> list[tuple[str, Decimal]]:
    found = [row for row in await api.ledger() if str(row["reference"]).split(":")[1:2] == [key]]
    return [(row["kind"], row["amount_usd"]) for row in reversed(found)]


@pytest.mark.rule("R101", "R113")
async def test_a_top_up_moves_float_to_the_card_one_to_one(api: Api, card: str) -> None:
    """R101, R113."""
    data = (await api.top_up(card, "25.50")).data

    assert data == {
        "card_id": card, "amount_requested_usd": Decimal("25.5"), "fee_usd": 0,
        "credited_usd": Decimal("25.5"), "partner_balance_usd": Decimal("74.5"),
    }  # fmt: skip
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] == Decimal("25.5")
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal("-25.5"))]


@pytest.mark.rule("R096", "R099")
async def test_a_replay_returns_the_original_amounts_with_the_float_of_now(api: Api, card: str) -> None:
    """R096, R099."""
    await api.top_up(card, "25")
    await api.top_up(card, "5", idem="other")

    again = (await api.top_up(card, "99")).data

    assert (again["credited_usd"], again["amount_requested_usd"]) == (25, 25)
    assert again["partner_balance_usd"] == 70


@pytest.mark.rule("R097")
async def test_a_used_key_with_an_unknown_card_is_404_before_it_is_a_replay(api: Api, card: str) -> None:
    """R097."""
    await api.top_up(card)
    assert (await api.top_up("A" * 32)).refusal == (404, "NOT_FOUND")


@pytest.mark.rule("R095")
async def test_a_key_is_bound_to_its_card(api: Api, card: str) -> None:
    """R095."""
    other = await api.order("order-2")
    await api.top_up(card)
    assert (await api.top_up(other)).refusal == (409, "ALREADY_PROCESSED")


@pytest.mark.rule("R104")
async def test_402_writes_nothing_and_leaves_the_key_unused(api: Api, card: str, hand: Hand) -> None:
    """R104."""
    assert (await api.top_up(card, "100.01")).refusal == (402, "INSUFFICIENT_FUNDS")
    assert await rows_of(api, "topup-1") == []

    await hand("float", amount_usd="50")
    assert (await api.top_up(card, "100.01")).status == 200


@pytest.mark.rule("R050", "R103")
async def test_402_counts_the_limit_headroom_and_not_the_balance_alone(
    api: Api, card: str, hand: Hand
) -> None:
    """R103, R050."""
    await hand("account", float_limit_usd="40")
    await api.top_up(card, "30")
    assert (await api.top_up(card, "10.01", idem="above")).refusal == (402, "INSUFFICIENT_FUNDS")
    assert (await api.float())["available_usd"] == 10
    assert (await api.top_up(card, "10", idem="exactly")).status == 200


@pytest.mark.parametrize(
    "amount",
    ["0", "-1", "0.001", "0.30000000000000004", '"25.00"', "true", "null", "NaN", "1e400", "[1]", "0.009"],
)
@pytest.mark.rule("R029", "R030", "R031")
async def test_an_amount_that_is_no_plain_number_of_cents_moves_nothing(
    api: Api, card: str, amount: str
) -> None:
    """R029, R030, R031; 1e400 is a number, but above any float."""
    answer = await api.call(
        "POST", f"/cards/{card}/topup", raw=b'{"amount_usd": %s}' % amount.encode(), idem="bad-amount"
    )
    assert answer.refusal in {(400, "BAD_REQUEST"), (402, "INSUFFICIENT_FUNDS")}
    assert (answer.status == 402) is (amount == "1e400")
    assert (await api.float())["balance_usd"] == 100


@pytest.mark.parametrize("amount", ["25.000", "2.5e1", "25"])
async def test_the_value_of_an_amount_counts_and_not_its_spelling(api: Api, card: str, amount: str) -> None:
    """U42."""
    answer = await api.call(
        "POST", f"/cards/{card}/topup", raw=b'{"amount_usd": %s}' % amount.encode(), idem="k"
    )
    assert answer.data["credited_usd"] == 25


@pytest.mark.parametrize(
    ("processor", "refusal"),
    [
        ("400", (400, "BAD_REQUEST")), ("412", (400, "BAD_REQUEST")), ("401", (503, "UPSTREAM_AUTH")),
        ("403", (502, "UNAVAILABLE")), ("404", (502, "UNAVAILABLE")), ("409", (502, "UNAVAILABLE")),
        ("429", (502, "UNAVAILABLE")), ("capacity", (409, "QUOTA")),
    ],
)  # fmt: skip
@pytest.mark.rule("R093", "R105", "R106", "R107", "R111", "R113")
async def test_a_definite_rejection_refunds_and_spends_the_key(
    api: Api, card: str, hand: Hand, processor: str, refusal: tuple[int, str]
) -> None:
    """R093, R105, R106, R107, R111, R113."""
    await hand.fault("processor", processor=processor)

    assert (await api.top_up(card)).refusal == refusal
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25)), ("refund", Decimal(25))]
    assert next(row["card_id"] for row in await api.ledger() if row["kind"] == "refund") is None
    assert (await api.top_up(card)).refusal == (409, "ALREADY_PROCESSED")
    assert (await api.float())["balance_usd"] == 100


@pytest.mark.parametrize("processor", ["5xx", "timeout"])
@pytest.mark.parametrize("settled", ["credited", "refunded"])
@pytest.mark.rule("R106", "R110", "R112")
async def test_an_unknown_processor_outcome_keeps_the_debit_until_support_settles_it(
    api: Api, card: str, hand: Hand, processor: str, settled: str
) -> None:
    """R106, R110, R112, U30."""
    await hand.fault("processor", processor=processor)
    assert (await api.top_up(card)).refusal == (502, "UNAVAILABLE")
    assert (await api.top_up(card)).refusal == (409, "ALREADY_PROCESSED")
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25))]

    await hand("topups/topup-1/resolve", **{"as": settled})

    answer = await api.top_up(card)
    if settled == "credited":
        assert answer.data["credited_usd"] == 25
    else:
        assert answer.refusal == (409, "ALREADY_PROCESSED")
        assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25)), ("refund", Decimal(25))]


@pytest.mark.parametrize(
    ("effect", "debits"), [("drop_before_commit", 0), ("drop_after_commit", 1), ("reset", 0)]
)
@pytest.mark.rule("R109")
async def test_after_a_lost_answer_the_same_key_moves_money_once(
    api: Api, card: str, hand: Hand, effect: str, debits: int
) -> None:
    """R109: the fault that matters, the work done and the answer lost."""
    await hand.fault(effect)
    with pytest.raises(httpx.TransportError):
        await api.top_up(card)
    assert len(await rows_of(api, "topup-1")) == debits

    assert (await api.top_up(card)).data["credited_usd"] == 25
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25))]


@pytest.mark.rule("R005")
async def test_a_garbled_answer_hides_work_that_was_done(api: Api, card: str, hand: Hand) -> None:
    """R005."""
    await hand.fault("garbage")
    with pytest.raises(Exception, match="Input data was truncated"):
        await api.top_up(card)
    assert (await api.top_up(card)).data["credited_usd"] == 25
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25))]


@pytest.mark.rule("R102", "R112")
async def test_a_call_that_died_midway_is_a_debit_without_an_outcome(api: Api, card: str, hand: Hand) -> None:
    """R102, R112."""
    await hand.fault("drop_midway")
    with pytest.raises(httpx.TransportError):
        await api.top_up(card)
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25))]
    assert (await api.top_up(card)).refusal == (409, "ALREADY_PROCESSED")
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] == 0


@pytest.mark.rule("R092", "R117")
async def test_of_two_calls_with_one_key_one_executes_and_the_other_is_409(
    api: Api, card: str, hand: Hand
) -> None:
    """R092, R117."""
    await hand.fault("delay", seconds=0.3)
    first = asyncio.create_task(api.top_up(card))
    await asyncio.sleep(0.1)

    assert (await api.top_up(card)).refusal == (409, "ALREADY_PROCESSED")
    assert (await first).status == 200
    assert await rows_of(api, "topup-1") == [("card_topup", Decimal(-25))]


@pytest.mark.rule("R116")
async def test_concurrent_top_ups_cannot_both_pass_the_check_of_available(
    api: Api, card: str, hand: Hand
) -> None:
    """R116."""
    await hand.fault("delay", seconds=0.1, times=2)
    answers = await asyncio.gather(api.top_up(card, "60", idem="a"), api.top_up(card, "60", idem="b"))
    assert sorted(answer.status for answer in answers) == [200, 402]


@pytest.mark.rule("R097")
async def test_an_answer_is_forced_before_anything_happens(api: Api, card: str, hand: Hand) -> None:
    """R097: a 404 on a re-send hides the replay."""
    await api.top_up(card)
    await hand.fault("status", status=404)
    assert (await api.top_up(card)).refusal == (404, "NOT_FOUND")
    assert (await api.top_up(card)).status == 200


@pytest.mark.parametrize("key", ["", "a:b", "a.b", "x" * 129, "a b"])
@pytest.mark.rule("R086")
async def test_a_malformed_idempotency_key_is_refused(api: Api, card: str, key: str) -> None:
    """R086, U23."""
    answer = await api.call(
        "POST",
        f"/cards/{card}/topup",
        {"amount_usd": 1},
        headers={"Idempotency-Key": key},
    )
    assert answer.refusal == (400, "BAD_REQUEST")
    assert (await api.float())["balance_usd"] == 100


@pytest.mark.rule("R088")
async def test_without_a_key_each_call_debits(api: Api, card: str) -> None:
    """R088, U24."""
    for _ in range(2):
        assert (await api.post(f"/cards/{card}/topup", {"amount_usd": 10})).status == 200
    assert (await api.float())["balance_usd"] == 80


@pytest.mark.parametrize(
    ("status", "answered"), [("FROZEN", 200), ("BLOCKED", 400), ("EXPIRED", 400), ("INACTIVE", 400)]
)
async def test_only_active_and_frozen_cards_take_a_credit(
    api: Api, card: str, hand: Hand, status: str, answered: int
) -> None:
    """U34: the processor refuses, so the float is refunded and the key spent."""
    await hand(f"cards/{card}", status=status)
    assert (await api.top_up(card)).status == answered
    assert (await api.float())["balance_usd"] == (75 if answered == 200 else 100)


async def test_one_key_may_serve_two_kinds_unless_the_switch_says_account(api: Api, hand: Hand) -> None:
    """U20."""
    await hand("float", amount_usd="100")
    card = await api.order("shared")
    assert (await api.top_up(card, idem="shared")).status == 200

    await hand("account", key_scope="account")
    assert (await api.top_up(card, idem="order-9")).status == 200
    assert (await api.post("/cards", ORDER, idem="order-9")).refusal[0] == 409
