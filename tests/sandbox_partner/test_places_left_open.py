"""Places where the document is silent or brief: what happens by default, and what each switch changes."""

import hashlib
from decimal import Decimal

import httpx
import phonenumbers
import pytest

from sandbox.partner.server import Running
from tests.sandbox_partner.conftest import Api, Hand

pytestmark = pytest.mark.by_turns(4)

HOOK = "https://hooks.example.com/"


async def ordered(api: Api, country: int, phone: str, name: str) -> str:
    """What POST /cards says to a number: `taken`, or the code of its refusal."""
    body = {
        "card_holder_name": "Ada",
        "phone_country_code": country,
        "phone": phone,
        "email": "ada@example.com",
    }
    answer = await api.post("/cards", body, idem=name)
    return "taken" if answer.status == 201 else answer.refusal[1]


async def test_a_number_of_every_country_is_taken_and_a_code_of_no_country_refused(
    api: Api, hand: Hand
) -> None:
    """P6: an example of every assigned country code, and every code that is not assigned."""
    wide = Api(api.http, (await hand("keys", rate_limit_per_minute=100_000))["key"], api.description)
    assigned = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    for country, regions in assigned.items():
        number = phonenumbers.example_number_for_type(regions[0], phonenumbers.PhoneNumberType.MOBILE)
        if number is None:
            continue
        phone = phonenumbers.national_significant_number(number)
        assert await ordered(wide, country, phone, f"c-{country}") == "taken", (country, phone)
    unassigned = [code for code in (*range(1, 1000, 37), 210, 999, 1000, 10**9) if code not in assigned]
    assert len(unassigned) > 10
    for country in unassigned:
        assert await ordered(wide, country, "12345678", f"u-{country}") == "INVALID_PHONE", country


@pytest.mark.parametrize(
    ("country", "phone", "when_possible"),
    [
        (999, "12345678", "INVALID_PHONE"), (1, "1115550100", "taken"), (49, "1234", "taken"),
        (44, "0000000001", "taken"), (1, "5551234567", "taken"), (46, "0701234567", "taken"),
        (1, "202555012", "INVALID_PHONE"), (49, "15123456789", "taken"),
    ],
)  # fmt: skip
async def test_only_a_number_that_can_be_assigned_is_taken(
    api: Api, hand: Hand, country: int, phone: str, when_possible: str
) -> None:
    """P6: `phone_check: possible` looks at the length alone."""
    strict = "taken" if (country, phone) == (49, "15123456789") else "INVALID_PHONE"
    assert await ordered(api, country, phone, "strict") == strict
    await hand("account", phone_check="possible")
    assert await ordered(api, country, phone, "lenient") == when_possible


@pytest.mark.parametrize(("choice", "status"), [("any_case", 200), ("lowercase", 400)])
async def test_the_prefix_of_a_hash_may_be_written_in_any_case(
    api: Api, hand: Hand, choice: str, status: int
) -> None:
    """P7: "0x plus 64 hex chars, any case"; stored in lower case."""
    await hand("account", tx_hash_prefix=choice)
    answer = await api.post("/funding", {"tx_hash": "0X" + "AB" * 32, "network": "POLYGON"})
    assert answer.status == status
    assert status == 400 or answer.data["tx_hash"] == "0x" + "ab" * 32


@pytest.mark.parametrize(("choice", "outcome"), [("declines", "declined"), ("spends", "authorized")])
async def test_a_card_whose_status_is_still_null_cannot_spend(
    api: Api, hand: Hand, choice: str, outcome: str
) -> None:
    """P8: any status other than ACTIVE is not spendable, null included."""
    await hand("clock", mode="frozen")
    await hand("account", unsynced_card=choice)
    await hand("float", amount_usd="100")
    card = await api.order()
    assert (await api.top_up(card, "50")).status == 200
    assert (await api.get(f"/cards/{card}")).data["card"]["status"] is None
    assert (await hand.buy(card, "5"))["outcome"] == outcome
    await hand("clock", advance_seconds=2)
    assert (await hand.buy(card, "5"))["outcome"] == "authorized"


async def test_a_freeze_before_the_first_sync_is_seen_at_once(api: Api, hand: Hand) -> None:
    """P8: the event, the purchases and GET tell one story."""
    await hand("clock", mode="frozen")
    card = await api.order()
    assert (await api.post(f"/cards/{card}/freeze", {"frozen": True})).status == 200
    assert (await api.get(f"/cards/{card}")).data["card"]["status"] == "FROZEN"


@pytest.mark.parametrize(
    ("choice", "refusal"),
    [("insufficient_funds", (402, "INSUFFICIENT_FUNDS")), ("bad_request", (400, "BAD_REQUEST"))],
)
async def test_an_unload_of_a_closed_card_is_refused(
    api: Api, hand: Hand, choice: str, refusal: tuple[int, str]
) -> None:
    """P10: the endpoint names no closed card, but a card that holds less."""
    await hand("account", unload_closed=choice)
    card = await api.loaded(hand, "10")
    await api.post(f"/cards/{card}/close", idem="close")
    assert (await api.post(f"/cards/{card}/unload", {"amount_usd": 1}, idem="u")).refusal == refusal


@pytest.mark.parametrize("answered", ["400", "403", "404", "409", "412", "429", "5xx", "timeout"])
async def test_reading_a_card_answers_502_whatever_error_the_processor_has(
    api: Api, hand: Hand, answered: str
) -> None:
    """P10: the endpoint lists 502 for a processor error and no 400."""
    card = await api.loaded(hand, "10")
    await hand.fault("processor", "GET /cards/{cardId}", processor=answered)
    assert (await api.get(f"/cards/{card}")).refusal == (502, "UNAVAILABLE")


@pytest.mark.parametrize(
    ("status", "switch", "forced", "blocked"),
    [
        ("FROZEN", "no", None, False), ("FROZEN", "yes", None, True), ("BLOCKED", "no", None, True),
        ("ACTIVE", "no", "card_blocked", True), ("ACTIVE", "no", "fraud_risk_declined", False),
    ],
)  # fmt: skip
async def test_card_blocked_on_a_decline_says_whether_only_the_service_can_help(
    api: Api, hand: Hand, status: str, switch: str, forced: str | None, blocked: bool
) -> None:
    """P13: a frozen card can be unfrozen by the partner, so the flag is false by default."""
    card = await api.loaded(hand, "100")
    await hand("account", frozen_reads_blocked=switch)
    await hand(f"cards/{card}", status=status)
    await hand.buy(card, "5", **({"decline_code": forced} if forced else {}))
    [row] = await api.history(card)
    assert row["decline_reason"]["card_blocked"] is blocked
    assert row["decline_reason"]["code"] == (forced or "card_blocked")


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("https://hooks.example.com/a/../b", "https://hooks.example.com/b"),
        ("https://hooks.example.com/a/./b/", "https://hooks.example.com/a/b/"),
        ("https://hooks.example.com/a/%2e%2E/b", "https://hooks.example.com/b"),
        ("https://hooks.example.com/../..", "https://hooks.example.com/"),
        ("https://hooks.example.com/a/..", "https://hooks.example.com/"),
        ("https://hooks.example.com/a//b", "https://hooks.example.com/a//b"),
        ("https://hooks.example.com/a/b/.?c=../d", "https://hooks.example.com/a/b/?c=../d"),
    ],
)
async def test_dots_in_a_path_are_resolved_as_a_browser_does(api: Api, given: str, stored: str) -> None:
    """P14: the stored address is normalized."""
    assert (await api.call("PUT", "/webhook", {"url": given})).data["webhook"]["url"] == stored


@pytest.mark.parametrize(("choice", "left"), [("zero", "0"), ("last", "10")])
async def test_the_cached_balance_of_a_closed_card_is_what_closing_left(
    api: Api, hand: Hand, choice: str, left: str
) -> None:
    """P14: closing reads the balance and takes it all."""
    await hand("clock", mode="frozen")
    await hand("account", closed_balance=choice)
    card = await api.loaded(hand, "10")
    await api.post("/cards/balances", {"card_ids": [card], "refresh": True})
    await api.post(f"/cards/{card}/close", idem="close")
    [row] = (await api.post("/cards/balances", {"card_ids": [card]})).data["balances"]
    assert (row["balance_usd"], row["ok"]) == (Decimal(left), True)


@pytest.mark.parametrize(("choice", "parts"), [("both", {"fx", "atm"}), ("atm_only", {"atm"})])
async def test_a_switch_says_what_a_cash_machine_abroad_costs(
    api: Api, hand: Hand, choice: str, parts: set[str]
) -> None:
    """P14."""
    card = await api.loaded(hand, "100")
    await hand("account", foreign_atm=choice)
    await hand.buy(card, "20", original_amount="18", original_currency="EUR", kind="atm")
    fees = (await api.events())[-1]["payload"]["fee_breakdown"]
    assert {name for name in ("fx", "atm") if fees[f"{name}_usd"] > 0} == parts


@pytest.mark.parametrize(("choice", "pages"), [("one", 1), ("true", 2)])
async def test_past_the_end_the_total_is_zero_and_so_there_is_one_page(
    api: Api, hand: Hand, choice: str, pages: int
) -> None:
    """P14: total 0 and total_pages never below 1, as a count over the rows of the page gives."""
    await hand("account", pages_past_end=choice)
    for amount_usd in ("1", "2", "3"):
        await hand("float", amount_usd=amount_usd)
    found = (await api.get("/ledger?limit=2&page=9")).data
    assert (found["entries"], found["total"], found["total_pages"]) == ([], 0, pages)


async def test_a_reset_also_resets_the_clock_and_the_ways_of_delivery(api: Api, hand: Hand) -> None:
    """D1: nothing of one test is left for the next."""
    before = (await hand.state())["clock"][:10]
    for change in (
        {"mode": "frozen", "set": "2031-01-01T00:00:00Z"},
        {"mode": "realtime", "advance_seconds": 10**8},
    ):
        await hand("clock", **change)
        await hand(
            "deliveries", mode="drop", map={"a.example": "http://127.0.0.1:9"}, timestamps="wall", serial=True
        )
        await hand("account", first_sync="immediate")
        await hand("reset")
        state = await hand.state()
        assert (state["clock"][:10], state["clock_mode"]) == (before, "realtime")
        assert (state["delivery_mode"], state["delivery_map"]) == ("normal", {})
        assert (state["delivery_timestamps"], state["delivery_serial"]) == ("clock", False)
        assert state["account"]["first_sync"] == "delayed"


BASE58 = set("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")


async def test_every_chain_has_addresses_and_hashes_in_its_own_alphabet(api: Api, hand: Hand) -> None:
    """D3: Base58 with a checksum on Tron, Base58 of 32 bytes on Solana, hexadecimal elsewhere."""
    await hand("account", deposits_enabled=True)
    card = await api.order()
    for chain, asset in (("TRON", "USDT"), ("SOLANA", "USDC"), ("POLYGON", "USDC"), ("ETHEREUM", "USDT")):
        body = {"card_id": card, "asset": asset, "chain": chain, "amount_usd": 20}
        quoted = (await api.post("/deposits", body)).data
        await hand(f"deposits/{quoted['deposit_id']}/confirm")
        [kept] = [one for one in (await api.get("/deposits")).data["deposits"] if one["chain"] == chain]
        address, tx_hash = quoted["deposit_address"], kept["tx_hash"]
        if chain == "TRON":
            assert (len(address), address[0], len(tx_hash)) == (34, "T", 64)
            assert decoded(address)[:1] == b"\x41"
            assert checksum(decoded(address)[:21]) == decoded(address)[21:]
            assert set(tx_hash) <= set("0123456789abcdef")
        elif chain == "SOLANA":
            assert len(decoded(address)) == 32
            assert len(decoded(tx_hash)) == 64
        else:
            assert (address[:2], len(address), tx_hash[:2], len(tx_hash)) == ("0x", 42, "0x", 66)


def decoded(text: str) -> bytes:
    """The bytes that a Base58 text stands for."""
    alphabet = "".join(sorted(BASE58))
    number = 0
    for letter in text:
        number = number * 58 + alphabet.index(letter)
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def checksum(payload: bytes) -> bytes:
    """The four bytes that end an address of Tron."""
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]


@pytest.mark.parametrize("number", ["1" * 5000, "1e-999999999", "1e999999999", "-" + "9" * 4400])
async def test_a_number_out_of_range_is_named_as_that(api: Api, hand: Hand, number: str) -> None:
    """D4: it is valid JSON, so the sentence says what is wrong with it."""
    card = await api.order()
    raw = f'{{"amount_usd": {number}}}'.encode()
    answer = await api.call("POST", f"/cards/{card}/topup", raw=raw, idem="k")
    assert answer.refusal == (400, "BAD_REQUEST")
    assert "JSON" not in answer.body["error"]
    assert "range" in answer.body["error"]


async def test_there_is_an_index_of_the_control_calls_and_a_list_of_the_faults(
    hand: Hand, simulator: Running
) -> None:
    """D5."""
    await hand.fault("drop_after_commit")
    assert [one["effect"] for one in (await hand.http.get("faults")).json()["faults"]] == [
        "drop_after_commit"
    ]
    async with httpx.AsyncClient(trust_env=False) as http:
        for address in (simulator.control_url, simulator.control_url + "/"):
            calls = (await http.get(address)).json()["calls"]
            assert {("GET", "/_control/faults"), ("POST", "/_control/reset")} <= {
                (one["method"], one["path"]) for one in calls
            }
            assert all(one["summary"] for one in calls)


async def test_what_has_no_switch_is_as_the_page_says(api: Api, hand: Hand) -> None:
    """P11: funded falls by a reversal, an operator's credit has no reference, an unload is a refund with its card."""
    card = await api.order()
    await hand("float", amount_usd="500")
    row = (await api.ledger())[0]
    assert (row["kind"], row["reference"], row["amount_usd"]) == ("funding", None, 500)

    transaction = "0x" + "c1" * 32
    wallet = "0x1111111111111111111111111111111111111111"
    await hand("wallets", address=wallet, owner="self")
    await hand(
        "chain/transfers",
        network="POLYGON",
        tx_hash=transaction,
        senders=[wallet],
        token="USDC",
        amount="100",
    )
    submission = (await api.post("/funding", {"network": "POLYGON", "tx_hash": transaction})).data
    before = await api.float()
    await hand(f"funding/{submission['id']}/decide", decision="reverse")
    after = await api.float()
    assert (before["funded_usd"] - after["funded_usd"], before["balance_usd"] - after["balance_usd"]) == (
        100,
        99,
    )
    assert after["balance_usd"] == after["funded_usd"] - after["spent_usd"]

    await api.top_up(card, "50")
    await api.post(f"/cards/{card}/unload", {"amount_usd": 20}, idem="back")
    row = (await api.ledger())[0]
    assert (row["kind"], row["card_id"], row["amount_usd"]) == ("refund", card, 20)
