"""What a shift types: how Countersign is, stopping and resuming, handing over, what would fit, who gets codes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bot.domain.people import Delegation
from bot.domain.requests import State
from bot.services.cards import card_sync
from bot.services.operators import confirmations, delegations, pausing
from storage.cards import otp_recipients
from storage.messages import alerts
from storage.operators import pauses
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, SlackDriver, a_slack_driver
from tests.support.world import a_policy

ALERTS = "C0ALERTS"
Json = dict[str, Any]


async def answer(driver: SlackDriver, user: str, text: str) -> str:
    await driver.command(user, text)
    return words(await driver.shown_to(user))


def words(message: Json) -> str:
    texts = [str(message.get("text", ""))]
    for block in message.get("blocks") or []:
        parts = [block.get("text"), *block.get("elements", []), *block.get("fields", [])]
        parts += [cell for row in block.get("rows", []) for cell in row]
        texts += [p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return "\n".join(texts)


async def posted(driver: SlackDriver, text: str) -> Json:
    """The one message of the alerts channel with this text in it."""
    await driver.world.advance(6)
    await driver.settle()
    found = [m for m in await driver.messages(BOB, ALERTS) if m.get("thread_ts") in (None, m["ts"])]
    fitting = [m for m in found if text in words(m) and not m["ephemeral"]]
    assert len(fitting) == 1, [m["text"] for m in found]
    return fitting[0]


async def buttons(message: Json) -> list[str]:
    found = [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return [e["text"]["text"] for e in found if "text" in e]


async def test_a_request_and_its_note_say_that_sending_is_paused(driver: SlackDriver) -> None:
    await pausing.pause(driver.core, BOB, ["main"], "the key may be stolen")

    request = await driver.ask_top_up()

    shown = words(await driver.shown_to(ALICE))
    assert f"*{request.id}* is pending" in shown
    assert "the key may be stolen. What is approved meanwhile waits 15 minutes at most." in shown


async def test_status_says_how_everything_is_and_when_it_was_read(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    async with driver.core.store.begin() as tx:
        said = {"subject": "main", "severity": "warning", "text": "Look at it."}
        await alerts.raise_(tx, dedupe="x", kind="decline", title="Declines at a bakery", **said)

    shown = await answer(driver, ALICE, "/countersign status")

    for part in (
        "Float",
        "available",
        "1 pending",
        "Declines at a bakery",
        "no delivery yet",
        "requests are sent",
    ):
        assert part in shown, part
    assert "Read last: float" in shown
    assert "events *never*" in shown
    assert request.state is State.PENDING

    await driver.world.fault("status", "GET /me", status=500, code="UNAVAILABLE", times=10)
    await driver.world.advance(60)
    assert "could not be read just now" in await answer(driver, ALICE, "/countersign status")


async def test_one_person_pauses_with_a_word_and_two_resume_with_a_button(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    assert "may pause and resume" in await answer(driver, ALICE, "/countersign pause")

    assert "is paused" in await answer(driver, BOB, "/countersign pause main the key may be stolen")
    card = words(await driver.card(request.id))
    assert "by Bob Tanaka: the key may be stolen.*" in card, "a whole sentence: another one follows it"
    assert "is paused since" in await answer(driver, ALICE, "/countersign status")
    assert "was already paused" in await answer(driver, CAROL, "/countersign pause")
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    assert "waits 15 minutes at most" in str(await driver.modal(BOB))
    assert "It is sent once sending resumes" in str(await driver.modal(BOB))
    await driver.submit(BOB)
    assert (await driver.see(BOB))["views"] == []
    await driver.command(ALICE, f"/card freeze {driver.world.cards[0]['id']}")
    await driver.submit(ALICE, {"reason": "Stolen", "run_now": ["yes"]})
    await driver.submit(ALICE)
    assert "is not sent" in words(await driver.shown_to(ALICE))

    alert = await posted(driver, "Sending to main is paused by")
    assert await buttons(alert) == ["Resume", "Assign to me"]
    await driver.press(BOB, alert, "alert:resume", channel=ALERTS)
    asking = await posted(driver, "asks to resume sending to main")
    assert await buttons(asking) == ["Confirm", "Decline"]
    await driver.press(BOB, asking, "alert:confirm", channel=ALERTS)
    assert await pausing.of(driver.core, "main") is not None
    await driver.press(CAROL, asking, "alert:confirm", channel=ALERTS)

    assert await pausing.of(driver.core, "main") is None
    await driver.world.run_due()
    assert {r.state for r in await driver.requests()} == {State.SUCCEEDED}
    assert "paused" not in words(await driver.card(request.id))
    assert await buttons(await posted(driver, "asks to resume sending to main")) == []


async def test_pause_on_home_asks_why_and_stops_at_once(driver: SlackDriver) -> None:
    home = await driver.home(BOB)
    await driver.tell("act/click", {"user": BOB, "view_id": home["id"], "action_id": "sending:pause:main"})
    await driver.settle()
    assert (await driver.modal(BOB))["title"]["text"] == "Pause sending"
    refused = await driver.submit(BOB, {"reason": "4242424242424242"})
    assert "card number" in str(refused)
    await driver.submit(BOB, {"reason": "Odd debits"})

    found = await pausing.of(driver.core, "main")
    assert found is not None
    assert (found.by, found.reason) == (BOB, "Odd debits")
    assert "Two people resume it" in str(await driver.modal(BOB))


async def test_a_shift_is_handed_over_with_what_is_open_and_somebody_else_accepts_it(
    driver: SlackDriver,
) -> None:
    request = await driver.ask_top_up()
    async with driver.core.store.begin() as tx:
        said = {"subject": "main", "severity": "warning", "text": "t"}
        alert, _ = await alerts.raise_(tx, dedupe="x", kind="decline", title="Declines at a bakery", **said)
        await alerts.snooze(tx, alert.id, until=tx.now + timedelta(hours=2))
    card = driver.world.cards[0]
    await driver.world.tell(f"cards/{card['id']}", {"status": "FROZEN"})
    await card_sync.sync_cards(driver.core, "main")
    preview = await answer(driver, BOB, "/countersign handover Mind the <!channel> bakery")
    for part in ("Mind the", request.id, "Declines at a bakery until", "Nothing is posted yet"):
        assert part in preview, part
    assert "<!channel>" not in preview
    assert not [m for m in await driver.messages(BOB, ALERTS) if "Hand-over" in m["text"]]
    await driver.press(BOB, await driver.shown_to(BOB), "answer:page:post", channel=OPS)
    assert "in the alerts channel" in words(await driver.shown_to(BOB))

    message = await posted(driver, "⇄ Hand-over")
    shown = words(message)
    for part in ("Mind the", request.id, "Snoozes that end", "Declines at a bakery until", "Frozen cards"):
        assert part in shown, part
    assert "<!channel>" not in shown
    assert await buttons(message) == ["Accept"]
    await driver.press(BOB, message, "alert:take_over", channel=ALERTS)
    async with driver.core.store.read() as tx:
        assert len(await alerts.open_of(tx, "handover")) == 1
    await driver.press(CAROL, message, "alert:take_over", channel=ALERTS)

    assert "with Carol Reyes" in words(await posted(driver, "✓ Taken over"))
    async with driver.core.store.read() as tx:
        assert await alerts.open_of(tx, "handover") == []
        rows = await tx.run(
            text("SELECT actor, action, outcome FROM audit WHERE action LIKE 'handover.%' ORDER BY seq")
        )
        assert [tuple(row) for row in rows.all()] == [
            (BOB, "handover.given", "ok"),
            (BOB, "handover.accept", "refused"),
            (CAROL, "handover.accepted", "ok"),
        ]


async def test_what_is_written_for_people_reads_as_it_was_typed(driver: SlackDriver) -> None:
    await driver.command(BOB, "/countersign pause ask @carol in #card-ops & wait <5 minutes>")

    async with driver.core.store.read() as tx:
        (pause,) = await pauses.all(tx)
    assert pause.reason == "ask @carol in #card-ops & wait <5 minutes>"


async def test_who_gets_codes_takes_two_people_and_never_the_one_who_gets_them(driver: SlackDriver) -> None:
    assert "Only admins" in await answer(driver, BOB, "/countersign people")
    assert "Asked" in await answer(driver, CAROL, "/countersign people map team 7 @bob")
    asking = await posted(driver, "asks to send one-time codes of team 7")

    for person in (CAROL, BOB, ALICE):
        await driver.press(person, asking, "alert:confirm", channel=ALERTS)
    async with driver.core.store.read() as tx:
        assert await otp_recipients.all(tx) == []
    await driver.press(CAROL, asking, "alert:decline", channel=ALERTS)
    await driver.command(CAROL, "/countersign people map team 7 @alice")
    again = [m for m in await driver.messages(BOB, ALERTS) if "asks to send one-time codes" in words(m)][-1]
    await driver.press(BOB, again, "alert:confirm", channel=ALERTS)

    async with driver.core.store.read() as tx:
        assert await otp_recipients.all(tx) == [("team 7", ALICE)]
    assert "team 7" in await answer(driver, CAROL, "/countersign people")
    order = {"card_holder_name": "Alice Moreau", "phone_country_code": "49", "phone": "15112345678"}
    await driver.command(ALICE, "/card order")
    await driver.submit(
        ALICE, {**order, "email": "a@example.com", "partner_ref": "team 7", "reason": "New hire"}
    )
    preview = words(await driver.modal(ALICE))
    assert "One-time codes go to" in preview
    assert "nobody yet" not in preview
    assert "are no longer sent to anybody" in await answer(driver, CAROL, "/countersign people unmap team 7")
    await confirmations.expire_due(driver.core)
    async with driver.core.store.read() as tx:
        assert await otp_recipients.all(tx) == []


async def test_what_if_reckons_with_float_fees_limits_and_pending_requests(driver: SlackDriver) -> None:
    await driver.ask_top_up(amount="100")
    before = len(await driver.requests())

    fits = await answer(driver, ALICE, "/countersign what-if 2 cards at 20")
    assert "✓ Yes. Order 2 cards at 20.00 USD each: it fits just now." in fits
    assert "100.00 USD in 1 pending" in fits
    assert "first month's fee" in fits
    short = await answer(driver, ALICE, "/countersign what-if top up 9000 cards by 400")
    assert "✗ No." in short
    assert "Send at least" in short
    assert "Your limit in 24 hours is 5,000.00 USD. This needs 3,600,000.00 USD." in short
    assert "Short by" in short
    tier = await answer(driver, ALICE, "/countersign what-if top up 4 cards by 200")
    assert "1 for one, 2 for all 4 in one request" in tier
    most = await answer(driver, ALICE, "/countersign what-if how many cards at 300")
    assert "that is the most that fits just now" in most
    assert "Ask for example" in await answer(driver, ALICE, "/countersign what-if it rains")

    assert len(await driver.requests()) == before


async def test_a_delegation_is_shown_and_reported_when_it_begins_and_ends(driver: SlackDriver) -> None:
    now = driver.world.clock.now()
    away = Delegation("@bob", "@alice", now, now + timedelta(hours=2), "on leave")
    core = driver.core
    policy = replace(core.policy, delegations=(away,))
    delegated = replace(core, policy=policy)

    await delegations.announce(delegated)
    await delegations.announce(delegated)
    began = words(await posted(driver, "A delegation began"))
    assert "Alice Moreau decides in place of Bob Tanaka until" in began
    assert await delegations.problems(delegated) == []
    await driver.world.advance(3 * 3600)
    await delegations.announce(delegated)
    assert "It is over" in words(await posted(driver, "A delegation ended"))

    wrong = Delegation("@alice", "@bob", now, now + timedelta(days=1), "on leave")
    unknown = replace(wrong, away="@bob", delegate="@nobody-here")
    said = await delegations.problems(replace(core, policy=replace(policy, delegations=(wrong, unknown))))
    assert "@alice isn't an approver" in said[0]
    assert "knows no user group and no person named @nobody-here" in said[1]


async def test_a_delegate_decides_in_slack_but_not_on_their_delegators_request(tmp_path: Path) -> None:
    since = datetime(2026, 3, 1, tzinfo=UTC)
    away = Delegation("@bob", "@alice", since, since + timedelta(days=7), "on leave")
    async with a_slack_driver(tmp_path, policy=replace(a_policy(), delegations=(away,))) as driver:
        who = await answer(driver, CAROL, "/countersign who topup")
        assert f"<@{ALICE}> (in place of <@{BOB}>)" in who
        assert "*@alice* decides in place of @bob" in await answer(driver, CAROL, "/countersign policy")

        of_bob = await driver.ask_top_up(BOB, "40")
        await driver.press(ALICE, await driver.card(of_bob.id), "request:approve")
        assert "linked by a delegation" in str(await driver.modal(ALICE))
        assert (await driver.newest()).state is State.PENDING

        of_carol = await driver.ask_top_up(CAROL, "45")
        assert of_carol.id in str(await driver.home(ALICE))
        assert of_bob.id not in str(await driver.home(ALICE))
        await driver.press(ALICE, await driver.card(of_carol.id), "request:approve")
        await driver.submit(ALICE)
        assert (await driver.newest()).state is State.APPROVED
