"""Cards: ordering, names and phones, lists, freezing, balances."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from sandbox.partner import invariants
from sandbox.partner.accounts import accounts
from sandbox.partner.background import delivery_queue
from sandbox.partner.cards import cards
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.server import build_world
from tests.sandbox_partner.conftest import ORDER, Api, Hand

pytestmark = pytest.mark.by_turns(4)


async def order(api: Api, idem: str | None = "order-1", **changes: Any) -> Any:
    return await api.post("/cards", {**ORDER, **changes}, idem=idem)


@pytest.mark.rule("R052", "R053", "R054")
async def test_a_new_card_is_201_with_a_zero_balance_and_a_status_that_comes_later(
    api: Api, hand: Hand
) -> None:
    """R052, R053, R054, U11."""
    await hand("clock", mode="frozen")
    answer = await order(api)
    assert answer.status == 201
    card = answer.data["card"]
    assert (card["status"], card["last4"], card["card_holder_name"]) == (None, None, "ADA LOVELACE")

    await hand("clock", advance_seconds=2)
    later = (await api.get(f"/cards/{card['id']}")).data
    assert (later["card"]["status"], len(later["card"]["last4"]), later["balance_usd"]) == ("ACTIVE", 4, 0)
    assert set(later) == {"card", "balance_usd"}  # R079: the balance is beside the card


NAMES = [
    ("  José Núñez ", "JOSE NUNEZ"), ("Łukasz Żółć", "LUKASZ ZOLC"), ("Jürgen Groß".replace("ß", "ss"), "JÜRGEN GROSS"),
    ("a/b-c^d.e'f)", "A/B-C^D.E'F)"), ("Jose\u0301", "JOSE"), ("x" * 26, "X" * 26), ("Zoë", "ZOE"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "stored"), NAMES)
@pytest.mark.rule("R059", "R060", "R062")
async def test_names_are_stored_in_their_normal_form(api: Api, given: str, stored: str) -> None:
    """R059, R060, R062, U40."""
    assert (await order(api, card_holder_name=given)).data["card"]["card_holder_name"] == stored


BAD_NAMES = [
    "", "   ", "Groß", "Ørsted", "Æsop", "Иван", "王", "A(b", "A,b", "A&b", "x" * 27, "ﬁn", "m²", "½", "đ", "ħ", "ı",
    "tab\there", "nul\x00", "<b>", "😀",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.rule("R059", "R060", "R061", "R062", "R067")
async def test_names_that_cannot_be_printed_are_refused(api: Api, name: str) -> None:
    """R059 to R062, R067, U39."""
    assert (await order(api, card_holder_name=name)).refusal == (400, "INVALID_NAME")


DETAILS: list[tuple[dict[str, Any], str]] = [
    ({"phone_country_code": "49"}, "BAD_REQUEST"), ({"phone_country_code": True}, "BAD_REQUEST"),
    ({"phone_country_code": 49.5}, "BAD_REQUEST"), ({"phone_country_code": 0}, "BAD_REQUEST"),
    ({"phone": 15123456}, "BAD_REQUEST"), ({"phone": "123"}, "INVALID_PHONE"), ({"phone": "1" * 16}, "INVALID_PHONE"),
    ({"phone": "+4915123"}, "INVALID_PHONE"), ({"phone": "151 234"}, "INVALID_PHONE"),
    ({"phone": "\u0661\u0662\u0663\u0664\u0665"}, "INVALID_PHONE"), ({"phone": "5555555"}, "INVALID_PHONE"),
    ({"phone": "1234567890"}, "INVALID_PHONE"), ({"email": "a@b"}, "INVALID_EMAIL"),
    ({"email": "a b@c.de"}, "INVALID_EMAIL"), ({"email": "a@b@c.de"}, "INVALID_EMAIL"), ({"email": 1}, "BAD_REQUEST"),
    ({"partner_ref": "x" * 129}, "BAD_REQUEST"), ({"partner_ref": 5}, "BAD_REQUEST"),
    ({"card_holder_name": None}, "BAD_REQUEST"), ({"phone_country_code": 850}, "PHONE_COUNTRY_NOT_ALLOWED"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "code"), DETAILS)
@pytest.mark.rule("R064", "R065", "R067")
async def test_a_wrong_type_is_bad_request_and_a_wrong_value_has_its_own_code(
    api: Api, hand: Hand, changes: dict[str, Any], code: str
) -> None:
    """R064, R065, R067, U41."""
    await hand("account", countries_refused=[850])
    assert (await order(api, **changes)).refusal == (400, code)
    assert (await api.get("/me")).data["cards"]["total"] == 0


@pytest.mark.parametrize(
    ("given", "echoed"), [(" Emp 1 ", " Emp 1 "), ("", None), (None, None), ("x" * 128, "x" * 128)]
)
@pytest.mark.rule("R057")
async def test_partner_ref_is_echoed_untouched(api: Api, given: Any, echoed: Any) -> None:
    """R057, U39."""
    assert (await order(api, partner_ref=given)).data["card"]["partner_ref"] == echoed


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{", b'{"a":NaN}', b"\xff", b"\xef\xbb\xbf{}", b"[" * 5000]
)
async def test_a_body_that_is_no_json_object_is_bad_request(api: Api, body: bytes) -> None:
    assert (await api.call("POST", "/cards", raw=body)).refusal == (400, "BAD_REQUEST")


async def test_an_oversize_body_is_a_flat_error(api: Api) -> None:
    """U72."""
    assert (await api.call("POST", "/cards", raw=b'"' + b"x" * 300_000 + b'"')).refusal == (
        400,
        "BAD_REQUEST",
    )


@pytest.mark.rule("R072")
async def test_the_same_key_creates_one_card(api: Api, hand: Hand) -> None:
    """R072, U17: the first answer comes back, or by the switch the card as it is now."""
    first = (await order(api)).data["card"]
    again = await order(api, card_holder_name="Somebody Else")
    assert (again.status, again.data["card"]) == (201, first)
    assert (await api.get("/me")).data["cards"]["total"] == 1

    await hand(f"cards/{first['id']}", status="BLOCKED")
    await hand("account", create_replay="current")
    assert (await order(api)).data["card"]["status"] == "BLOCKED"


@pytest.mark.rule("R072", "R088")
async def test_without_a_key_a_retry_makes_a_second_card(api: Api) -> None:
    """R072, R088."""
    for _ in range(2):
        await order(api, None)
    assert (await api.get("/me")).data["cards"]["total"] == 2


@pytest.mark.parametrize(
    ("processor", "refusal"),
    [
        ("5xx", (502, "UNAVAILABLE")), ("timeout", (502, "UNAVAILABLE")), ("401", (503, "UPSTREAM_AUTH")),
        ("400", (400, "BAD_REQUEST")), ("capacity", (409, "QUOTA")),
    ],
)  # fmt: skip
@pytest.mark.rule("R068", "R071", "R256")
async def test_a_processor_failure_creates_nothing_and_releases_the_key(
    api: Api, hand: Hand, processor: str, refusal: tuple[int, str]
) -> None:
    """R068, R071, U29, R256."""
    await hand.fault("processor", "POST /cards", processor=processor)
    assert (await order(api)).refusal == refusal
    assert (await api.get("/me")).data["cards"]["total"] == 0
    assert (await order(api)).status == 201


@pytest.mark.rule("R092")
async def test_an_order_in_flight_is_409(api: Api, hand: Hand) -> None:
    """R092."""
    await hand.fault("delay", "POST /cards", seconds=0.3)
    first = asyncio.create_task(order(api))
    await asyncio.sleep(0.1)
    assert (await order(api)).refusal == (409, "ALREADY_PROCESSED")
    assert (await first).status == 201


async def test_an_order_that_died_midway_is_claimed_without_a_card(api: Api, hand: Hand) -> None:
    await hand.fault("drop_midway", "POST /cards")
    with pytest.raises(httpx.TransportError):
        await order(api)
    assert (await order(api)).refusal == (409, "ALREADY_PROCESSED")
    assert (await api.get("/cards")).data["count"] == 0


@pytest.mark.rule("R068", "R069", "R137")
async def test_the_allowance_is_for_life(api: Api, hand: Hand) -> None:
    """R068, R069, R137: closing gives nothing back."""
    await hand("account", cards_limit=1)
    card = await api.order()
    await api.post(f"/cards/{card}/close")

    assert (await order(api, "order-2")).refusal == (409, "QUOTA")
    assert (await api.get("/me")).data["cards"] == {"total": 1, "active": 0, "limit": 1}
    await hand("account", cards_limit=2)
    assert (await order(api, "order-2")).status == 201


@pytest.mark.rule("R199", "R200", "R204")
async def test_an_order_bills_the_first_month_and_leaves_a_claim_row(api: Api, hand: Hand) -> None:
    """R199, R200, R204, U15, U33."""
    await hand("clock", mode="frozen", set="2026-01-31T23:00:00Z")
    await hand("account", monthly_fee_usd="2.50")
    card = await api.order()

    rows = {row["kind"]: row for row in await api.ledger()}
    assert (rows["fee"]["amount_usd"], rows["fee"]["card_id"]) == (-2.5, None)
    assert rows["fee"]["reference"] == f"card-fee:{card}:2026-01"
    assert (rows["adjustment"]["amount_usd"], rows["adjustment"]["card_id"]) == (0, None)
    assert rows["adjustment"]["description"] == card


@pytest.mark.rule("R204", "R205")
async def test_each_month_is_billed_once_frozen_or_not_until_the_card_is_closed(api: Api, hand: Hand) -> None:
    """R204, R205."""
    await hand("clock", mode="frozen", set="2026-01-31T23:00:00Z")
    await hand("account", monthly_fee_usd="1")
    kept, closed = await api.order("a"), await api.order("b")
    await api.post(f"/cards/{kept}/freeze", {"frozen": True})
    await hand("clock", advance_seconds=2 * 3600)  # into February
    await api.post(f"/cards/{closed}/close")
    await hand("clock", set="2026-04-15T00:00:00Z")

    months = {row["reference"] for row in await api.ledger() if row["kind"] == "fee"}
    assert months == {f"card-fee:{kept}:2026-{month:02}" for month in (1, 2, 3, 4)} | {
        f"card-fee:{closed}:2026-{month:02}" for month in (1, 2)
    }
    february = next(row for row in await api.ledger() if row["reference"] == f"card-fee:{kept}:2026-02")
    assert february["created_at"] == "2026-02-01T00:00:00.000Z"


async def test_years_of_fees_of_a_fleet_let_others_go_on_and_each_month_is_whole() -> None:
    world = build_world()
    account = accounts.first_account(world)
    accounts.change_settings(world, account, {"monthly_fee_usd": "1"})
    world.clock.change("frozen", datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC), None)
    monthly_fees.start(world)
    with world.store.transaction():
        for number in range(50):
            cards.issue(world, account, f"HOLDER {number}", None)
    seen: list[int] = []

    async def look_on() -> None:
        while True:
            seen.append(accounts.account(world, account).ledger_rows)
            await asyncio.sleep(0)

    looking = asyncio.create_task(look_on())
    world.clock.change(None, None, timedelta(days=731))
    await delivery_queue.catch_up(world)
    looking.cancel()

    assert len(set(seen)) >= 24
    assert {rows % 50 for rows in seen} == {0}
    assert seen[-1] == 25 * 50
    assert invariants.broken(world) == []


@pytest.mark.rule("R206")
async def test_a_fee_settled_by_invoice_leaves_no_row(api: Api, hand: Hand) -> None:
    """R206."""
    await hand("account", monthly_fee="invoice")
    await api.order()
    assert [row["kind"] for row in await api.ledger()] == ["adjustment"]


LISTS = {
    "": 50, "?limit=500": 60, "?limit=0": 1, "?limit=-4": 1, "?limit=abc": 50, "?limit=": 50, "?limit=2.7": 2,
    "?limit=inf": 50, "?limit=nan": 50, "?offset=55": 5, "?offset=-3": 50, "?offset=58.9": 2, "?offset=600": 0,
}  # fmt: skip


@pytest.mark.rule("R073", "R075", "R077")
async def test_the_list_of_cards_clamps_and_never_refuses(api: Api) -> None:
    """R073, R075, R077, U44."""
    for number in range(60):
        await api.order(f"order-{number}")

    counts = {}
    for query in LISTS:
        data = (await api.get(f"/cards{query}")).data
        assert data["count"] == len(data["cards"])
        counts[query] = data["count"]

    assert counts == LISTS


@pytest.mark.rule("R078")
async def test_cards_come_newest_first_without_closed_ones(api: Api) -> None:
    """R078."""
    ids = [await api.order(f"order-{number}") for number in range(3)]
    await api.post(f"/cards/{ids[1]}/close")
    assert [card["id"] for card in (await api.get("/cards")).data["cards"]] == [ids[2], ids[0]]
    assert (await api.get(f"/cards/{ids[1]}")).data["card"]["status"] == "DELETED"


@pytest.mark.rule("R056")
async def test_ids_are_case_sensitive(api: Api, hand: Hand) -> None:
    """R056: two cards whose ids differ in case only are two cards."""
    ids = (await hand("scenarios/happy-day"))["cards"]
    twins = [card for card in ids if card.swapcase() in ids]
    assert len(twins) == 2
    names = {(await api.get(f"/cards/{card}")).data["card"]["card_holder_name"] for card in twins}
    assert len(names) == 2
    single = next(card for card in ids if card not in twins)
    assert (await api.get(f"/cards/{single.swapcase()}")).refusal == (404, "NOT_FOUND")


@pytest.mark.rule("R079")
async def test_an_unreadable_balance_is_null_and_not_an_error(api: Api, hand: Hand) -> None:
    """R079, U7: a failed look-up of the card is another matter."""
    card = await api.order()
    await hand(f"cards/{card}", balance_readable=False)
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] is None
    await hand.fault("processor", "GET /cards/{cardId}", processor="5xx")
    assert (await api.get(f"/cards/{card}")).refusal == (502, "UNAVAILABLE")


@pytest.mark.rule("R089", "R128")
async def test_freezing_echoes_and_tells_by_event_once(api: Api, hand: Hand) -> None:
    """R089, R128, U36: the same key with the other value is executed."""
    card = await api.order()
    await hand(f"cards/{card}", status="ACTIVE")
    for frozen in (True, True, False):
        answer = await api.post(f"/cards/{card}/freeze", {"frozen": frozen}, idem="one-key")
        assert answer.data == {"card_id": card, "frozen": frozen}
        status = (await api.get(f"/cards/{card}")).data["card"]["status"]
        assert status == ("FROZEN" if frozen else "ACTIVE")

    events = (await api.get("/events")).data["events"]
    assert [event["payload"]["reason"] for event in events] == ["partner_unfreeze", "partner_freeze"]


@pytest.mark.parametrize("body", [{"frozen": "true"}, {"frozen": 1}, {"frozen": None}, {}, [True]])
@pytest.mark.rule("R126", "R127")
async def test_frozen_must_be_a_json_boolean_and_a_bad_card_wins_over_it(api: Api, body: Any) -> None:
    """R126, R127."""
    card = await api.order()
    assert (await api.post(f"/cards/{card}/freeze", body)).refusal == (400, "BAD_REQUEST")
    assert (await api.post(f"/cards/{'z' * 32}/freeze", body)).refusal == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("processor", "refusal"), [("5xx", (502, "UNAVAILABLE")), ("401", (503, "UPSTREAM_AUTH"))]
)
@pytest.mark.rule("R129")
async def test_a_failed_freeze_changes_nothing(
    api: Api, hand: Hand, processor: str, refusal: tuple[int, str]
) -> None:
    """R129."""
    card = await api.order()
    await hand.fault("processor", "POST /cards/{cardId}/freeze", processor=processor)
    assert (await api.post(f"/cards/{card}/freeze", {"frozen": True})).refusal == refusal
    assert (await hand.state())["cards"][0]["status"] == "ACTIVE"


@pytest.mark.parametrize("status", ["BLOCKED", "EXPIRED"])
@pytest.mark.rule("R132")
async def test_only_the_service_leads_a_card_out_of_blocked(api: Api, hand: Hand, status: str) -> None:
    """R132, U36."""
    card = await api.order()
    await hand(f"cards/{card}", status=status)
    assert (await api.post(f"/cards/{card}/freeze", {"frozen": False})).refusal == (400, "BAD_REQUEST")


@pytest.mark.rule("R083", "R085")
async def test_cached_balances_lag_and_say_since_when(api: Api, hand: Hand) -> None:
    """R083, R085, U43: null until the background refresh reached the card, then as of that refresh."""
    await hand("clock", mode="frozen", set="2026-01-01T00:00:30Z")
    await hand("account", background_refresh_seconds=60)
    await hand("float", amount_usd="100")
    card = await api.order()
    await api.top_up(card, "10")
    unread = (await api.post("/cards/balances", {})).data["balances"][0]
    assert (unread["balance_usd"], unread["as_of"], unread["ok"], unread["error"]) == (
        None,
        None,
        False,
        None,
    )

    await hand("clock", advance_seconds=45)
    await api.top_up(card, "5", idem="second")
    cached = (await api.post("/cards/balances", {"card_ids": [card]})).data["balances"][0]
    assert (cached["balance_usd"], cached["as_of"], cached["ok"]) == (10, "2026-01-01T00:01:00.000Z", True)

    live = (await api.post("/cards/balances", {"card_ids": [card], "refresh": True})).data["balances"][0]
    assert (live["balance_usd"], live["as_of"]) == (15, "2026-01-01T00:01:15.000Z")


@pytest.mark.rule("R082", "R084")
async def test_balance_rows_keep_the_order_and_name_what_is_not_there(api: Api, hand: Hand) -> None:
    """R082, R084, U43."""
    first, second = await api.order("a"), await api.order("b")
    await hand(f"cards/{first}", balance_readable=False)
    data = (await api.post("/cards/balances", {"card_ids": [second, "nope", first], "refresh": True})).data
    assert [(row["card_id"], row["error"]) for row in data["balances"]] == [
        (second, None), ("nope", "NOT_FOUND"), (first, "UNAVAILABLE"),
    ]  # fmt: skip
    assert set(data) == {"balances", "count"}
    fleet = (await api.post("/cards/balances", {"limit": 1, "page": 2})).data
    assert (fleet["balances"][0]["card_id"], fleet["total"], fleet["total_pages"]) == (first, 2, 2)


@pytest.mark.parametrize(
    "body",
    [
        {"refresh": True}, {"card_ids": [str(n) for n in range(26)], "refresh": True}, {"card_ids": ["a", "a"]},
        {"card_ids": [str(n) for n in range(1001)]}, {"card_ids": [1]}, {"card_ids": "a"}, {"limit": 1001},
        {"refresh": "yes"},
    ],
)  # fmt: skip
@pytest.mark.rule("R081")
async def test_balances_refuse_what_they_cannot_serve(api: Api, body: Any) -> None:
    """R081."""
    assert (await api.post("/cards/balances", body)).refusal == (400, "BAD_REQUEST")
