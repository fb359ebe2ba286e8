"""The pytest plugin: what its fixtures give to a test, and what a test that waits in vain is shown."""

import asyncio
import inspect
import json
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

import httpx
import pytest

from sandbox.partner.server import serve
from sandbox.testing import PartnerSandbox, SlackSandbox
from sandbox.testing.background import Background

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
    assert "No new event card.authorized within" in shown
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
    begun = await partner_sandbox.aio.control("scenarios/happy-day")
    await partner_sandbox.aio.control("purchases", card_id=begun["cards"][0], amount_usd="3")
    event = await partner_sandbox.aio.wait_for_event("card.authorized")
    assert event["data"]["event"] == "authorized"
    await slack_sandbox.aio.act.say("hello")
    assert (await slack_sandbox.aio.wait_for_message("hello", by="U0ALICE"))["user"] == "U0ALICE"


async def _check_same_under_aio(waiting: object, awaited: object) -> None:
    """Every public method and attribute, also those of the objects in it."""
    for name in dir(waiting):
        if name.startswith("_") or name == "aio":
            continue
        one, other = getattr(waiting, name), getattr(awaited, name)
        if isinstance(one, str):
            assert other == one, name
        elif inspect.ismethod(one):
            with pytest.raises(TypeError):
                await other(*["no method takes so many"] * 20)
        else:
            await _check_same_under_aio(one, other)


async def test_everything_of_both_fixtures_stands_under_aio(
    partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox
) -> None:
    await _check_same_under_aio(partner_sandbox, partner_sandbox.aio)
    await _check_same_under_aio(slack_sandbox, slack_sandbox.aio)
    number = await partner_sandbox.aio.faults.add("GET /me", "status", status=503)
    assert [one["id"] for one in partner_sandbox.control("faults", "GET")["faults"]] == [number]
    assert (await slack_sandbox.aio.act("home", user="U0BOB")) == slack_sandbox.act("home", user="U0BOB")


async def test_many_can_wait_at_once(slack_sandbox: SlackSandbox) -> None:
    waits = [slack_sandbox.aio.wait_for_message(f"number {one}.", by="U0ALICE") for one in range(40)]
    says = [slack_sandbox.aio.act.say(f"number {one}.") for one in range(40)]
    found = (await asyncio.gather(*waits, *says))[:40]
    assert [one["text"] for one in found] == [f"number {one}." for one in range(40)]


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


@pytest.fixture(scope="session")
def partner_with_a_past(sandbox_background: Background) -> Iterator[PartnerSandbox]:
    """A simulator that begins with a scenario, as the page on the sandbox shows."""
    running = sandbox_background.run(serve(port=0))
    simulator = PartnerSandbox(running, sandbox_background)
    simulator.control("scenarios/happy-day")
    simulator.control("snapshots/fresh")
    yield simulator
    sandbox_background.run(running.close())


def test_no_event_of_what_a_test_begins_with_is_waited_for(partner_with_a_past: PartnerSandbox) -> None:
    partner_with_a_past.fresh()
    before = {one["type"] for one in partner_with_a_past.state()["events"]}
    assert len(before) > 2
    for kind in before:
        with pytest.raises(AssertionError, match=f"No new event {kind}"):
            partner_with_a_past.wait_for_event(kind, within_seconds=0)
        with pytest.raises(AssertionError, match=f"No new event {kind}"):
            partner_with_a_past.wait_for_delivery(kind, within_seconds=0)


def test_each_purchase_is_waited_for_by_itself(partner_with_a_past: PartnerSandbox) -> None:
    simulator = partner_with_a_past
    simulator.fresh()
    card = simulator.state()["cards"][0]["id"]
    for amount in ("3", "4"):
        bought = simulator.purchases.buy(card, amount)
        event = simulator.wait_for_event("card.authorized")
        assert event["data"]["transaction_id"] == bought["transaction_id"]
        with pytest.raises(AssertionError, match="No new event"):
            simulator.wait_for_event("card.authorized", within_seconds=0)
        assert simulator.wait_for_event("card.authorized", transaction_id=bought["transaction_id"])


def test_what_a_person_says_is_not_taken_for_an_answer(slack_sandbox: SlackSandbox) -> None:
    slack_sandbox.act.say("<@U0BOT> hello", user="U0BOB")
    with pytest.raises(AssertionError, match="No new message of the app with 'hello'"):
        slack_sandbox.wait_for_message("hello", within_seconds=0.05)
    assert slack_sandbox.wait_for_message("hello", by="U0BOB")["user"] == "U0BOB"


def test_an_answer_is_waited_for_once_and_again_when_it_changed(slack_sandbox: SlackSandbox) -> None:
    with httpx.Client(
        base_url=slack_sandbox.api_url,
        headers={"Authorization": f"Bearer {slack_sandbox.bot_token}"},
        trust_env=False,
    ) as app:
        sent = app.post("chat.postMessage", json={"channel": "C0OPS", "text": "Lunch? Coming: Bob"}).json()
        assert slack_sandbox.wait_for_message("Lunch")["ts"] == sent["ts"]
        assert slack_sandbox.wait_for_message("Coming")["ts"] == sent["ts"]
        with pytest.raises(AssertionError, match="No new message"):
            slack_sandbox.wait_for_message("Lunch", within_seconds=0.05)
        changed = {"channel": "C0OPS", "ts": sent["ts"], "text": "Lunch? Coming: Bob, Carol"}
        assert app.post("chat.update", json=changed).json()["ok"]
        assert slack_sandbox.wait_for_message("Lunch")["ts"] == sent["ts"]


@pytest.mark.parametrize("again", [1, 2])
def test_each_test_begins_at_the_real_time(
    partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox, again: int
) -> None:
    now = datetime.now(UTC)
    for shown in (slack_sandbox.control("state", "GET")["now"], partner_sandbox.state()["clock"]):
        assert abs(datetime.fromisoformat(shown) - now) < timedelta(hours=1)
    slack_sandbox.control("clock", advance_seconds=86400)
    partner_sandbox.clock.advance(86400)


def test_every_control_call_of_both_halves_can_be_made_in_a_test(
    partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox, tmp_path: Path
) -> None:
    partner_sandbox.control("scenarios/happy-day")
    for sandbox in (partner_sandbox, slack_sandbox):
        plain = [one for one in sandbox.control("", "GET")["calls"] if one["method"] != "POST"]
        assert len(plain) > 4
        for one in plain:
            path = one["path"].removeprefix("/_control").removeprefix("/")
            if "{" not in path:
                more = {"user": "U0ALICE"} if path == "see" else {}
                assert sandbox.control(path, one["method"], **more), path
        with pytest.raises(AssertionError, match="no-such-call"):
            sandbox.control("no-such-call", "GET")


def test_a_workspace_goes_to_a_file_and_back(slack_sandbox: SlackSandbox, tmp_path: Path) -> None:
    slack_sandbox.act.say("hello")
    kept = tmp_path / "workspace.json"
    kept.write_text(json.dumps(slack_sandbox.control("snapshot", "GET")))
    slack_sandbox.control("reset")
    assert slack_sandbox.messages() == []
    slack_sandbox.control("snapshot", **json.loads(kept.read_text()))
    assert [one["text"] for one in slack_sandbox.messages()] == ["hello"]


def test_a_fault_of_slack_is_set_seen_and_cleared(slack_sandbox: SlackSandbox) -> None:
    slack_sandbox.control("faults", method="auth.test", effect="error", error="is_archived")
    assert [one["method"] for one in slack_sandbox.control("state", "GET")["faults"]] == ["auth.test"]
    slack_sandbox.control("faults", "DELETE")
    assert slack_sandbox.control("state", "GET")["faults"] == []
    assert slack_sandbox.control("see?user=U0ALICE", "GET")["channels"]
    with pytest.raises(AssertionError, match="there is no person 'U0NOBODY'"):
        slack_sandbox.control("see", "GET", user="U0NOBODY")
    with pytest.raises(AssertionError, match="user is missing"):
        slack_sandbox.control("see", "GET")
    with pytest.raises(AssertionError, match="POST /_control/see"):
        slack_sandbox.control("see")
