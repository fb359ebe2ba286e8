"""The pytest plugin: what its fixtures give to a test, and what a test that waits in vain is shown."""

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import httpx
import pytest

from sandbox.testing import PartnerSandbox, SlackSandbox

ORDER = {
    "card_holder_name": "Ada Lovelace",
    "phone_country_code": 49,
    "phone": "15123456789",
    "email": "ada@example.com",
}


def client(simulator: PartnerSandbox) -> httpx.Client:
    return httpx.Client(base_url=simulator.base_url, headers={"X-API-Key": simulator.key}, trust_env=False)


@pytest.mark.parametrize("again", [1, 2])
def test_each_test_begins_with_an_empty_simulator(partner_sandbox: PartnerSandbox, again: int) -> None:
    assert partner_sandbox.state()["cards"] == []
    assert partner_sandbox.state()["float"]["balance_usd"] == "0"
    partner_sandbox.control("scenarios/happy-day")
    partner_sandbox.clock.freeze("2031-01-01T00:00:00Z")
    assert partner_sandbox.state()["cards"]


@pytest.mark.parametrize("again", [1, 2])
def test_each_test_begins_in_a_silent_workspace(slack_sandbox: SlackSandbox, again: int) -> None:
    assert slack_sandbox.messages("card-ops") == []
    slack_sandbox.act.say("hello", channel="card-ops")
    assert [one["text"] for one in slack_sandbox.messages("card-ops")] == ["hello"]


def test_a_fresh_start_takes_less_than_twenty_milliseconds(
    partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox
) -> None:
    """Of this process's own time, so that a busy machine does not count."""
    spent = []
    for _ in range(11):
        began = time.process_time()
        partner_sandbox.fresh()
        slack_sandbox.fresh()
        spent.append(time.process_time() - began)
    assert statistics.median(spent) < 0.02


def test_an_event_is_waited_for_and_an_order_is_in_the_journal(partner_sandbox: PartnerSandbox) -> None:
    with client(partner_sandbox) as api:
        card = api.post("/cards", json=ORDER).json()["data"]["card"]["id"]
        api.post(f"/cards/{card}/freeze", json={"frozen": True})
    event = partner_sandbox.wait_for_event("card.status_changed", card_id=card)
    assert event["data"]["reason"] == "partner_freeze"
    assert [one["status"] for one in partner_sandbox.journal()] == [201, 200]


def test_a_test_that_waits_in_vain_is_shown_the_journal(partner_sandbox: PartnerSandbox) -> None:
    with client(partner_sandbox) as api:
        api.post("/cards", json={**ORDER, "phone": "1"})
    with pytest.raises(AssertionError) as failed:
        partner_sandbox.wait_for_event("card.authorized", within_seconds=0.05)
    shown = str(failed.value)
    assert "No event card.authorized" in shown
    assert "POST /api/partner/v1/cards" in shown
    assert "INVALID_PHONE" in shown


def test_a_test_that_waits_for_a_message_in_vain_is_shown_the_wire(slack_sandbox: SlackSandbox) -> None:
    slack_sandbox.act.say("hello")
    with pytest.raises(AssertionError, match="Between Slack and the app"):
        slack_sandbox.wait_for_message("never said", within_seconds=0.05)


@pytest.mark.parametrize(("call", "body"), [("float", {"amount": "1"}), ("no-such-call", {})])
def test_a_wrong_control_call_fails_the_test_with_the_reason(
    partner_sandbox: PartnerSandbox, call: str, body: dict[str, str]
) -> None:
    with pytest.raises(AssertionError, match=f"/_control/{call}"):
        partner_sandbox.control(call, **body)


def test_a_fault_strikes_and_is_forgotten(partner_sandbox: PartnerSandbox) -> None:
    partner_sandbox.faults.add("GET /me", "status", status=503)
    with client(partner_sandbox) as api:
        assert [api.get("/me").status_code for _ in range(2)] == [503, 200]
        partner_sandbox.faults.add("GET /me", "status", status=503)
        partner_sandbox.faults.clear()
        assert api.get("/me").status_code == 200


def test_a_purchase_is_made_settled_and_refunded(partner_sandbox: PartnerSandbox) -> None:
    card = partner_sandbox.control("scenarios/happy-day")["cards"][0]
    bought = partner_sandbox.purchases.buy(card, "10")
    partner_sandbox.purchases.settle(bought["transaction_id"])
    done = partner_sandbox.purchases.refund(bought["transaction_id"])
    assert done["purchase"]["status"] == "refunded"
    partner_sandbox.purchases.reverse(partner_sandbox.purchases.buy(card, "3")["transaction_id"])


async def test_the_same_methods_can_be_awaited(
    partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox
) -> None:
    await partner_sandbox.aio.control("scenarios/happy-day")
    event = await partner_sandbox.aio.wait_for_event("card.authorized")
    assert event["data"]["event"] == "authorized"
    await slack_sandbox.aio.say("hello")
    assert (await slack_sandbox.aio.wait_for_message("hello"))["user"] == "U0ALICE"


def test_a_field_that_no_event_of_this_type_has_is_not_waited_for(partner_sandbox: PartnerSandbox) -> None:
    """A misspelt argument would wait for something that cannot come."""
    for wrong in ({"timeout": 0.5}, {"cardid": "x"}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} .*card.authorized.*within_seconds"):
            partner_sandbox.wait_for_event("card.authorized", **wrong)
    with pytest.raises(TypeError, match=r"no type of event.*card\.authorized"):
        partner_sandbox.wait_for_event("card.authorised")
    with pytest.raises(TypeError, match="no type of event"):
        partner_sandbox.wait_for_delivery("x")


def test_a_command_that_no_manifest_declares_fails_the_test(slack_sandbox: SlackSandbox) -> None:
    with pytest.raises(AssertionError, match="/nope is not a command of the manifest; known: none"):
        slack_sandbox.act.command("/nope")


def _fails(partner: PartnerSandbox, slack: SlackSandbox, path: Path) -> list[Callable[[], object]]:
    return [
        lambda: partner.wait_for_event("card.authorized", within_seconds=0),
        lambda: partner.wait_for_event("card.authorized", timeout=1),
        lambda: partner.wait_for_delivery("card.authorized", within_seconds=0),
        lambda: partner.control("nope"),
        lambda: partner.clock.advance(-1),
        lambda: partner.purchases.settle("nope"),
        lambda: partner.faults.add("GET /nope", "reset"),
        lambda: partner.play(path),
        lambda: slack.wait_for_message("x", within_seconds=0),
        lambda: slack.wait_for_modal(within_seconds=0),
        lambda: slack.act.command("/nope"),
        lambda: slack.act("nope"),
        lambda: slack.messages("nope"),
    ]


def test_a_failure_points_at_the_line_of_the_test(
    partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox, tmp_path: Path
) -> None:
    """Nothing of the sandbox is in what pytest shows: no source of ours, no snapshot of megabytes."""
    for fails in _fails(partner_sandbox, slack_sandbox, tmp_path / "none.yml"):
        with pytest.raises((AssertionError, TypeError)) as failed:
            fails()
        inner = [one.tb_frame for one in _frames(failed.value.__traceback__)][2:]
        assert inner
        for frame in inner:
            assert {**frame.f_globals, **frame.f_locals}.get("__tracebackhide__"), frame
        assert failed.value.__cause__ is None
        assert failed.value.__suppress_context__


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
