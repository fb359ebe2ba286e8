"""3-D Secure played to its end: the right code, a wrong one, a late one, none at all, by SMS and by webhook."""

from typing import Any

import pytest

from tests.sandbox_partner.conftest import Api, Hand, Receiver

WRONG = "not-it"


async def asked(api: Api, hand: Hand, mode: str, **more: Any) -> tuple[str, str, str]:
    """A 3-D Secure purchase that waits for its code: card, challenge and the code."""
    await hand("clock", mode="frozen")
    card = await api.loaded(hand, "100")
    if mode == "webhook":
        await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
        await api.call("PUT", f"/cards/{card}/3ds", {"method": "webhook"})
        await hand("account", threeds_webhook_enabled=True)
    order = {"amount_usd": "30", "merchant": "Web Shop", "complete": "by code", **more}
    opened = await hand(f"cards/{card}/3ds", **order)
    await hand("clock", advance_seconds=0)
    sent = [one["payload"]["code"] for one in await api.events() if one["type"] == "card.3ds_challenge"]
    code = opened["sms_code"] if mode == "sms" else sent[0]
    assert (mode == "sms") == ("sms_code" in opened)
    return card, opened["challenge_id"], code


async def status(api: Api, card: str) -> str | None:
    """The history's word on the only purchase: None while there is none, a decline by its code."""
    rows = await api.history(card)
    assert len(rows) <= 1
    return (rows[0]["decline_reason"] or {}).get("code", rows[0]["status"]) if rows else None


@pytest.mark.parametrize("mode", ["webhook", "sms"])
async def test_the_right_code_authorizes_and_nothing_happens_before_it(
    api: Api, hand: Hand, receiver: Receiver, mode: str
) -> None:
    """P9: the purchase waits for the cardholder, and its id is the one that the challenge names."""
    card, challenge, code = await asked(api, hand, mode)
    await hand("clock", advance_seconds=299)
    assert await status(api, card) is None
    answer = await hand(f"challenges/{challenge}", code=code)
    assert (answer["state"], answer["outcome"]) == ("passed", "authorized")
    assert await status(api, card) == "pending"
    assert (await api.history(card))[0]["transaction_id"] == answer["transaction_id"]
    if mode == "webhook":
        assert (await api.events())[0]["payload"]["transaction_id"] == answer["transaction_id"]


@pytest.mark.parametrize("mode", ["webhook", "sms"])
@pytest.mark.parametrize("answer", [{"code": WRONG}, {"abandon": True}, {"enter": "wrong"}])
async def test_a_wrong_code_and_an_abandoned_one_decline_at_once(
    api: Api, hand: Hand, receiver: Receiver, mode: str, answer: dict[str, Any]
) -> None:
    card, challenge, _ = await asked(api, hand, mode)
    ended = await hand(f"challenges/{challenge}", **answer)
    assert (ended["state"], ended["outcome"]) == (
        "abandoned" if "abandon" in answer else "failed",
        "declined",
    )
    assert await status(api, card) == "security_check_failed"


async def test_a_late_code_is_not_taken(api: Api, hand: Hand, receiver: Receiver) -> None:
    card, challenge, code = await asked(api, hand, "webhook")
    await hand("clock", advance_seconds=300)
    assert await status(api, card) == "security_check_failed"
    late = await hand(f"challenges/{challenge}", code=code)
    assert (late["state"], late["outcome"]) == ("expired", "declined")
    assert await status(api, card) == "security_check_failed"


async def test_tries_are_counted_where_the_agreement_gives_several(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    await hand("account", threeds_tries=3)
    card, challenge, _ = await asked(api, hand, "webhook")
    for left in (2, 1):
        answer = await hand(f"challenges/{challenge}", code=WRONG)
        assert (answer["state"], answer["tries_left"], answer["outcome"]) == ("open", left, None)
        assert await status(api, card) is None
    answer = await hand(f"challenges/{challenge}", enter="right")
    assert answer["state"] == "passed"


async def test_the_right_code_buys_nothing_that_the_card_cannot_pay(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    card, challenge, code = await asked(api, hand, "webhook", amount_usd="500")
    ended = await hand(f"challenges/{challenge}", code=code)
    assert (ended["state"], ended["outcome"]) == ("passed", "declined")
    assert await status(api, card) == "insufficient_card_balance"


async def test_a_challenge_is_answered_once_and_only_in_a_known_way(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    _, challenge, code = await asked(api, hand, "webhook")
    for wrong in ({}, {"code": code, "abandon": True}, {"enter": "late"}, {"code": 1}, {"cod": code}):
        await hand.refused(f"challenges/{challenge}", **wrong)
    await hand(f"challenges/{challenge}", code=code)
    again = await hand.http.post(f"challenges/{challenge}", json={"code": code})
    assert (again.status_code, "passed" in again.json()["error"]) == (409, True)
    assert (await hand.http.post("challenges/none", json={"code": code})).status_code == 404


async def test_no_code_is_shown_where_a_screen_may_show_it(api: Api, hand: Hand, receiver: Receiver) -> None:
    _, challenge, code = await asked(api, hand, "webhook")
    for shown in ("state", "view", "journal"):
        text = (await hand.http.get(shown)).text
        assert code not in text, shown
    assert challenge in (await hand.http.get("view")).text


async def test_without_a_word_on_it_the_delivery_of_the_code_completes_the_purchase(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """`complete: at once` is the default, for tests that are about something else."""
    card, _, _ = await asked(api, hand, "webhook", complete="at once")
    assert await status(api, card) == "pending"


@pytest.mark.parametrize("mode", ["sms", "webhook"])
@pytest.mark.parametrize("complete", ["at once", "by code"])
@pytest.mark.parametrize("status_of_card", ["FROZEN", "BLOCKED", "INACTIVE", "EXPIRED"])
async def test_on_a_card_that_cannot_be_used_nobody_is_asked_for_a_code(
    api: Api, hand: Hand, mode: str, complete: str, status_of_card: str
) -> None:
    """No challenge is passed where none was made."""
    await hand("account", threeds_webhook_enabled=True)
    card = await api.loaded(hand, "100")
    if mode == "webhook":
        await api.call("PUT", f"/cards/{card}/3ds", {"method": "webhook"})
    await hand(f"cards/{card}", status=status_of_card)
    opened = await hand(f"cards/{card}/3ds", amount_usd="5", merchant="Shop", complete=complete)
    assert (opened["state"], opened["outcome"]) == ("refused", "declined")
    assert await status(api, card) == "card_blocked"
    again = await hand.http.post(f"challenges/{opened['challenge_id']}", json={"enter": "right"})
    assert (again.status_code, "refused" in again.json()["error"]) == (409, True)


async def test_the_answer_to_a_challenge_says_what_came_of_it_at_once(api: Api, hand: Hand) -> None:
    card = await api.loaded(hand, "100")
    for complete, outcome in {"at once": "authorized", "by code": None}.items():
        opened = await hand(f"cards/{card}/3ds", amount_usd="5", merchant="Shop", complete=complete)
        assert opened["outcome"] == outcome
