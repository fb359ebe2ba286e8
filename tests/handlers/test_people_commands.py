"""What a shift types: how the house is, stopping and resuming, handing over, what would fit, who gets codes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.domain.people import Delegation
from bot.domain.requests import State
from bot.services.cards import card_sync
from bot.services.operators import confirmations, delegations, pausing
from storage.cards import otp_recipients
from storage.messages import alerts
from tests.handlers.office import ALICE, BOB, CAROL, Office, an_office
from tests.support.world import a_policy

ALERTS = "C0ALERTS"
Json = dict[str, Any]


async def answer(office: Office, user: str, text: str) -> str:
    await office.command(user, text)
    return words(await office.told(user))


def words(message: Json) -> str:
    texts = [str(message.get("text", ""))]
    for block in message.get("blocks") or []:
        parts = [block.get("text"), *block.get("elements", []), *block.get("fields", [])]
        parts += [cell for row in block.get("rows", []) for cell in row]
        texts += [p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return "\n".join(texts)


async def posted(office: Office, text: str) -> Json:
    """The one message of the alerts channel with this text in it."""
    await office.world.advance(6)
    await office.settle()
    found = [m for m in await office.messages(BOB, ALERTS) if m.get("thread_ts") in (None, m["ts"])]
    fitting = [m for m in found if text in words(m) and not m["ephemeral"]]
    assert len(fitting) == 1, [m["text"] for m in found]
    return fitting[0]


async def buttons(message: Json) -> list[str]:
    found = [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return [e["text"]["text"] for e in found if "text" in e]


async def test_a_request_and_its_note_say_that_sending_is_paused(office: Office) -> None:
    await pausing.pause(office.core, BOB, ["main"], "the key may be stolen")

    request = await office.ask_top_up()

    told = words(await office.told(ALICE))
    assert f"*{request.id}* is pending" in told
    assert "the key may be stolen. What is approved meanwhile waits 15 minutes at most." in told


async def test_status_says_how_everything_is_and_when_it_was_read(office: Office) -> None:
    request = await office.ask_top_up()
    async with office.core.store.begin() as tx:
        said = {"subject": "main", "severity": "warning", "text": "Look at it."}
        await alerts.raise_(tx, dedupe="x", kind="decline", title="Declines at a bakery", **said)

    told = await answer(office, ALICE, "/countersign status")

    for part in (
        "Float",
        "available",
        "1 pending",
        "Declines at a bakery",
        "no delivery yet",
        "requests are sent",
    ):
        assert part in told, part
    assert "Read last: float" in told
    assert "events *never*" in told
    assert request.state is State.PENDING

    await office.world.fault("status", "GET /me", status=500, code="UNAVAILABLE", times=10)
    await office.world.advance(60)
    assert "could not be read just now" in await answer(office, ALICE, "/countersign status")


async def test_one_person_pauses_with_a_word_and_two_resume_with_a_button(office: Office) -> None:
    request = await office.ask_top_up()
    assert "may pause and resume" in await answer(office, ALICE, "/countersign pause")

    assert "is paused" in await answer(office, BOB, "/countersign pause main the key may be stolen")
    card = words(await office.card(request.id))
    assert "the key may be stolen" in card
    assert "is paused since" in await answer(office, ALICE, "/countersign status")
    assert "paused before" in await answer(office, CAROL, "/countersign pause")
    await office.press(BOB, await office.card(request.id), "request:approve")
    assert "Once approved it waits 15 minutes" in str(await office.modal(BOB))
    await office.submit(BOB)
    assert "Nothing is sent now: Sending to main is paused" in str(await office.modal(BOB))
    await office.command(ALICE, f"/card freeze {office.world.cards[0]['id']}")
    await office.submit(ALICE, {"reason": "Stolen", "run_now": ["yes"]})
    await office.submit(ALICE)
    assert "is not sent" in words(await office.told(ALICE))

    alert = await posted(office, "Sending to main is paused by")
    assert await buttons(alert) == ["Resume", "Assign to me"]
    await office.press(BOB, alert, "alert:resume", channel=ALERTS)
    asking = await posted(office, "asks to resume sending to main")
    assert await buttons(asking) == ["Confirm", "Decline"]
    await office.press(BOB, asking, "alert:confirm", channel=ALERTS)
    assert await pausing.of(office.core, "main") is not None
    await office.press(CAROL, asking, "alert:confirm", channel=ALERTS)

    assert await pausing.of(office.core, "main") is None
    await office.world.run_due()
    assert {r.state for r in await office.requests()} == {State.SUCCEEDED}
    assert "paused" not in words(await office.card(request.id))
    assert await buttons(await posted(office, "asks to resume sending to main")) == []


async def test_pause_on_home_asks_why_and_stops_at_once(office: Office) -> None:
    home = await office.home(BOB)
    await office.tell("act/click", {"user": BOB, "view_id": home["id"], "action_id": "sending:pause:main"})
    await office.settle()
    assert (await office.modal(BOB))["title"]["text"] == "Pause sending"
    refused = await office.submit(BOB, {"reason": "4242424242424242"})
    assert "card number" in str(refused)
    await office.submit(BOB, {"reason": "Odd debits"})

    found = await pausing.of(office.core, "main")
    assert found is not None
    assert (found.by, found.reason) == (BOB, "Odd debits")
    assert "Two people resume it" in str(await office.modal(BOB))


async def test_a_shift_is_handed_over_with_what_is_open_and_somebody_else_accepts_it(office: Office) -> None:
    request = await office.ask_top_up()
    async with office.core.store.begin() as tx:
        said = {"subject": "main", "severity": "warning", "text": "t"}
        alert, _ = await alerts.raise_(tx, dedupe="x", kind="decline", title="Declines at a bakery", **said)
        await alerts.snooze(tx, alert.id, until=tx.now + timedelta(hours=2))
    card = office.world.cards[0]
    await office.world.tell(f"cards/{card['id']}", {"status": "FROZEN"})
    await card_sync.sync_cards(office.core, "main")
    assert "in the alerts channel" in await answer(
        office, BOB, "/countersign handover Mind the <!channel> bakery"
    )

    message = await posted(office, "⇄ Hand-over")
    told = words(message)
    for part in ("Mind the", request.id, "Snoozes that end", "Declines at a bakery until", "Frozen cards"):
        assert part in told, part
    assert "<!channel>" not in told
    assert await buttons(message) == ["Accept"]
    await office.press(BOB, message, "alert:take_over", channel=ALERTS)
    async with office.core.store.read() as tx:
        assert len(await alerts.open_of(tx, "handover")) == 1
    await office.press(CAROL, message, "alert:take_over", channel=ALERTS)

    assert f"with <@{CAROL}>" in words(await posted(office, "✓ Taken over"))
    async with office.core.store.read() as tx:
        assert await alerts.open_of(tx, "handover") == []
        rows = await tx.connection.exec_driver_sql(
            "SELECT actor, action, outcome FROM audit WHERE action LIKE 'handover.%' ORDER BY seq"
        )
        assert [tuple(row) for row in rows.all()] == [
            (BOB, "handover.given", "ok"),
            (BOB, "handover.accept", "refused"),
            (CAROL, "handover.accepted", "ok"),
        ]


async def test_who_gets_codes_takes_two_people_and_never_the_one_who_gets_them(office: Office) -> None:
    assert "Only admins" in await answer(office, BOB, "/countersign people")
    assert "Asked" in await answer(office, CAROL, "/countersign people map team 7 @bob")
    asking = await posted(office, "wants one-time codes of team 7")

    for person in (CAROL, BOB, ALICE):
        await office.press(person, asking, "alert:confirm", channel=ALERTS)
    async with office.core.store.read() as tx:
        assert await otp_recipients.all(tx) == []
    await office.press(CAROL, asking, "alert:decline", channel=ALERTS)
    await office.command(CAROL, "/countersign people map team 7 @alice")
    again = [m for m in await office.messages(BOB, ALERTS) if "wants one-time codes" in words(m)][-1]
    await office.press(BOB, again, "alert:confirm", channel=ALERTS)

    async with office.core.store.read() as tx:
        assert await otp_recipients.all(tx) == [("team 7", ALICE)]
    assert "team 7" in await answer(office, CAROL, "/countersign people")
    order = {"card_holder_name": "Alice Moreau", "phone_country_code": "49", "phone": "15112345678"}
    await office.command(ALICE, "/card order")
    await office.submit(
        ALICE, {**order, "email": "a@example.com", "partner_ref": "team 7", "reason": "New hire"}
    )
    preview = words(await office.modal(ALICE))
    assert "One-time codes go to" in preview
    assert "nobody yet" not in preview
    assert "go to nobody now" in await answer(office, CAROL, "/countersign people unmap team 7")
    await confirmations.expire_due(office.core)
    async with office.core.store.read() as tx:
        assert await otp_recipients.all(tx) == []


async def test_what_if_reckons_with_float_fees_limits_and_pending_requests(office: Office) -> None:
    await office.ask_top_up(amount="100")
    before = len(await office.requests())

    fits = await answer(office, ALICE, "/countersign what-if 2 cards at 20")
    assert "✓ Yes. Order 2 cards at 20.00 USD each: it fits just now." in fits
    assert "100.00 USD in 1 pending" in fits
    assert "first month's fee" in fits
    short = await answer(office, ALICE, "/countersign what-if top up 9000 cards by 400")
    assert "✗ No." in short
    assert "Funding of at least" in short
    assert "Your limit in 24 hours of 5,000.00 USD leaves" in short
    tier = await answer(office, ALICE, "/countersign what-if top up 4 cards by 200")
    assert "1 for one, 2 for all 4 in one request" in tier
    most = await answer(office, ALICE, "/countersign what-if how many cards at 300")
    assert "that is the most that fits just now" in most
    assert "Ask for example" in await answer(office, ALICE, "/countersign what-if it rains")

    assert len(await office.requests()) == before


async def test_a_delegation_is_shown_and_told_when_it_begins_and_ends(office: Office) -> None:
    now = office.world.clock.now()
    away = Delegation("@bob", "@alice", now, now + timedelta(hours=2), "on leave")
    core = office.core
    policy = replace(core.policy, delegations=(away,))
    delegated = replace(core, policy=policy)

    await delegations.announce(delegated)
    await delegations.announce(delegated)
    began = words(await posted(office, "A delegation began"))
    assert "@alice decides in the place of @bob until" in began
    assert await delegations.problems(delegated) == []
    await office.world.advance(3 * 3600)
    await delegations.announce(delegated)
    assert "It is over" in words(await posted(office, "A delegation ended"))

    wrong = Delegation("@alice", "@bob", now, now + timedelta(days=1), "on leave")
    unknown = replace(wrong, away="@bob", delegate="@nobody-here")
    said = await delegations.problems(replace(core, policy=replace(policy, delegations=(wrong, unknown))))
    assert "@alice is no approver" in said[0]
    assert "knows no user group and no person named @nobody-here" in said[1]


async def test_a_delegate_decides_in_slack_but_not_on_their_delegators_request(tmp_path: Path) -> None:
    since = datetime(2026, 3, 1, tzinfo=UTC)
    away = Delegation("@bob", "@alice", since, since + timedelta(days=7), "on leave")
    async with an_office(tmp_path, policy=replace(a_policy(), delegations=(away,))) as office:
        who = await answer(office, CAROL, "/countersign who topup")
        assert f"<@{ALICE}> (in the place of <@{BOB}>)" in who
        assert "*@alice* decides in the place of @bob" in await answer(office, CAROL, "/countersign policy")

        of_bob = await office.ask_top_up(BOB, "40")
        await office.press(ALICE, await office.card(of_bob.id), "request:approve")
        assert "count as one person" in str(await office.modal(ALICE))
        assert (await office.newest()).state is State.PENDING

        of_carol = await office.ask_top_up(CAROL, "45")
        assert of_carol.id in str(await office.home(ALICE))
        assert of_bob.id not in str(await office.home(ALICE))
        await office.press(ALICE, await office.card(of_carol.id), "request:approve")
        await office.submit(ALICE)
        assert (await office.newest()).state is State.APPROVED
