"""A decision that the policy asks a passkey for: by the person's own device, on these terms, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from bot.cli import environment, keys
from bot.domain.card_details import Manner
from bot.domain.errors import NotAllowed, PasskeyNeeded, Stale
from bot.domain.passkeys import Bound, base64url, link_digest, unbase64url
from bot.domain.people import Actor, KindPolicy
from bot.domain.people.policy import Tier
from bot.domain.requests import Request, State
from bot.partner.secret import Secret
from bot.services import people
from bot.services.cards import details_link
from bot.services.execution import NotShown, card_details_access
from bot.services.operators import changed_rows, confirmation_answers, pausing
from bot.services.passkeys import enrolment, links, page, proofs, resets
from bot.services.passkeys.page import PageRefused
from bot.services.requests import approvals
from storage import audit
from storage.messages import alerts as alert_rows
from storage.operators import passkey_links, passkeys_on_record
from storage.requests import confirmations
from storage.store import Store
from storage.transaction import ChainMemory
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, run_to_the_end
from tests.services.outcome_steps import alert_kinds, execute, processor
from tests.support import posting
from tests.support.authenticator import Authenticator
from tests.support.passkeys import SITE, Devices, everybody_has_one, token_of, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World, a_policy

pytestmark = pytest.mark.by_turns(4)


@pytest.fixture
async def devices(world: World) -> Devices:
    return await everybody_has_one(world)


async def pending(world: World, amount: str = "50") -> Request:
    return await world.top_up(amount, approved=False)


async def actions(world: World) -> list[tuple[str, str, str]]:
    async with world.store.read() as tx:
        return [(e.action, e.outcome, e.reason_code) async for e in audit.entries(tx)]


async def change(world: World, statement: str, **values: Any) -> None:
    """What somebody does who can write to the database."""
    async with world.store.begin() as tx:
        await tx.run(text(statement), values)


async def approval_links(world: World) -> list[dict[str, Any]]:
    async with world.store.read() as tx:
        rows = [dict(row) for row in (await tx.run(text("SELECT * FROM passkey_link"))).mappings()]
    return [row for row in rows if row["purpose"] == "approve"]


async def test_what_was_approved_with_a_passkey_is_sent(world: World, devices: Devices) -> None:
    request = await pending(world)

    done = await devices.approve(request)
    await world.run_due()

    assert done.text.startswith(f"You approved {request.id}: ")
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_a_click_approves_nothing_where_the_policy_asks_for_a_passkey(
    world: World, devices: Devices
) -> None:
    request = await pending(world)

    with pytest.raises(PasskeyNeeded):
        await world.approve(request)

    assert (await world.request(request.id)).state is State.PENDING
    assert ("request.approve", "refused", "passkey_needed") in await actions(world)


async def test_below_the_tier_that_asks_for_it_a_click_is_enough(world: World) -> None:
    kind = a_policy().of("card_topup")
    tier = replace(kind.tiers[0], passkey=True)
    policy = replace(a_policy(), kinds={"card_topup": replace(kind, tiers=(tier,))})
    world.rebuild(policy=policy, passkeys=SITE)

    small, _ = await world.approve(await pending(world, "500"))
    with pytest.raises(PasskeyNeeded):
        await world.approve(await pending(world, "500.01"))

    assert small.state is State.APPROVED


async def test_another_device_approves_nothing(world: World, devices: Devices) -> None:
    request = await pending(world)
    shown = await devices.open(await devices.link(request, BOB))
    thief = Authenticator(SITE.origin)
    thief.create({"rp": {"id": SITE.rp_id}, "challenge": "AAAA"})
    (own,) = thief.keys
    (bobs,) = devices[BOB].keys
    signed = thief.sign(shown.options["get"], with_key=own)

    with pytest.raises(PageRefused) as unknown:
        await devices.use(await devices.link(request, BOB), BOB, signed)
    with pytest.raises(PageRefused) as forged:
        await devices.use(await devices.link(request, BOB), BOB, {**signed, "id": bobs, "rawId": bobs})

    assert (unknown.value.reason, forged.value.reason) == ("passkey_unknown", "passkey_not_genuine")
    assert (await world.request(request.id)).state is State.PENDING


async def test_a_signature_sent_again_counts_nowhere(world: World, devices: Devices) -> None:
    first, second = await pending(world, "60"), await pending(world, "61")
    shown = await devices.open(await devices.link(first, BOB))
    signed = devices[BOB].answer(shown.options)
    await devices.use(await devices.link(second, BOB), BOB)

    with pytest.raises(PageRefused) as other_request:
        await devices.use(await devices.link(first, CAROL), CAROL, signed)
    with pytest.raises(PageRefused) as other_link:
        await devices.use(await devices.link(first, BOB), BOB, signed)

    assert other_request.value.reason == "passkey_unknown"
    assert other_link.value.reason == "passkey_not_genuine"
    assert (await world.request(first.id)).state is State.PENDING


async def test_the_signature_on_one_request_approves_no_other(world: World, devices: Devices) -> None:
    first, second = await pending(world, "60"), await pending(world, "61")
    shown = await devices.open(await devices.link(first, BOB))
    signed = devices[BOB].answer(shown.options)

    with pytest.raises(PageRefused) as refused:
        await devices.use(await devices.link(second, BOB), BOB, signed)

    assert refused.value.reason == "passkey_not_genuine"
    assert (await world.request(second.id)).state is State.PENDING


async def test_a_device_that_asks_for_neither_finger_nor_pin_approves_nothing(
    world: World, devices: Devices
) -> None:
    request = await pending(world)
    devices[BOB].verifies = False

    with pytest.raises(PageRefused) as refused:
        await devices.approve(request)

    assert refused.value.reason == "passkey_not_genuine"


async def test_a_page_elsewhere_gets_no_signature_that_counts(world: World, devices: Devices) -> None:
    request = await pending(world)
    devices[BOB].origin = "https://countersign.example.org"

    with pytest.raises(PageRefused) as refused:
        await devices.approve(request)

    assert refused.value.reason == "passkey_not_genuine"


async def test_a_passkey_whose_counter_went_back_works_no_more(world: World, devices: Devices) -> None:
    request = await pending(world)
    devices[BOB].count -= 1

    with pytest.raises(PageRefused) as refused:
        await devices.approve(request)
    devices[BOB].count += 10
    with pytest.raises(NotAllowed) as after:
        await devices.link(request, BOB)

    assert (refused.value.reason, after.value.reason) == ("passkey_copied", "no_passkey")
    assert (await world.request(request.id)).state is State.PENDING
    assert (passkeys_on_record.ENDED, "ok", "") in await actions(world)
    async with world.store.read() as tx:
        alert = (await tx.run(text("SELECT kind, title FROM alert WHERE kind = 'passkey_ended'"))).one()
    assert tuple(alert) == ("passkey_ended", "A passkey of Bob may have been copied: Laptop")


async def test_a_signature_that_waits_for_slack_while_a_later_one_is_taken_is_no_copy(
    world: World, devices: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await pending(world, "60"), await pending(world, "61")
    pages = [await devices.open(await devices.link(one, BOB)) for one in (first, second)]
    answers = [devices[BOB].answer(one.options) for one in pages]
    asked, goes_on = asyncio.Event(), asyncio.Event()
    read = world.people.actor

    async def slow_once(slack_id: str) -> Actor:
        if not asked.is_set():
            asked.set()
            await goes_on.wait()
        return await read(slack_id)

    monkeypatch.setattr(world.people, "actor", slow_once)
    waiting = asyncio.create_task(_finish(devices, pages[0].token, answers[0]))
    await asked.wait()
    await _finish(devices, pages[1].token, answers[1])
    goes_on.set()
    await waiting

    assert [(await world.request(one.id)).state for one in (first, second)] == [State.APPROVED] * 2


@pytest.mark.parametrize("is_copy", [False, True], ids=["in two tabs", "by a copy"])
async def test_of_answers_that_come_in_another_order_the_later_one_counts(
    world: World, devices: Devices, is_copy: bool
) -> None:
    """Of one device in two tabs: nothing ends. A copy of it counts the same again, and is found."""
    first, second = await pending(world, "60"), await pending(world, "61")
    pages = [await devices.open(await devices.link(one, BOB)) for one in (first, second)]
    answers = [devices[BOB].answer(one.options) for one in pages]
    if is_copy:
        devices[BOB].count -= 1
        answers[0] = devices[BOB].answer(pages[0].options)
    await world.advance(1)
    await _finish(devices, pages[1].token, answers[1])

    with pytest.raises(PageRefused) as refused:
        await _finish(devices, pages[0].token, answers[0])

    assert refused.value.reason == ("passkey_copied" if is_copy else "passkey_out_of_turn")
    assert (await world.request(first.id)).state is State.PENDING
    if not is_copy:
        await devices.approve(first)


async def test_a_copy_that_answers_a_page_opened_since_is_found(world: World, devices: Devices) -> None:
    await devices.approve(await pending(world, "60"))
    await world.advance(1)
    devices[BOB].count -= 2

    with pytest.raises(PageRefused) as refused:
        await devices.approve(await pending(world, "61"))

    assert refused.value.reason == "passkey_copied"


async def test_a_device_that_never_counts_may_be_used_again(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)
    devices[BOB].counts = False
    await devices.add(BOB, CAROL)

    for amount in ("50", "51"):
        await devices.approve(await pending(world, amount))


async def test_a_removed_passkey_approves_nothing(world: World, devices: Devices) -> None:
    request = await pending(world)
    shown, unopened = await devices.open(await devices.link(request, BOB)), await devices.link(request, BOB)
    (mine,) = await devices.ids(BOB)
    await enrolment.revoke(world.core, BOB, mine)

    with pytest.raises(PageRefused) as signed:
        await _finish(devices, shown.token, devices[BOB].answer(shown.options))
    with pytest.raises(PageRefused) as opened:
        await devices.open(unopened)

    assert (signed.value.reason, opened.value.reason) == ("passkey_unknown", "no_passkey")
    assert (await world.request(request.id)).state is State.PENDING


async def test_the_link_works_once_and_for_five_minutes(world: World, devices: Devices) -> None:
    request = await pending(world)
    once, late, unused = [await devices.link(request, BOB) for _ in range(3)]
    shown = await devices.open(once)
    with pytest.raises(PageRefused) as again:
        await devices.open(once)
    late_page = await devices.open(late)
    world.clock.advance(timedelta(minutes=5, seconds=1).total_seconds())

    with pytest.raises(PageRefused) as too_late:
        await _finish(devices, late_page.token, devices[BOB].answer(late_page.options))
    with pytest.raises(PageRefused) as never_opened:
        await devices.open(unused)

    assert again.value.reason == "used"
    assert (too_late.value.reason, never_opened.value.reason) == ("expired", "expired")
    assert shown.expires_in_s == 300


async def _finish(devices: Devices, token: Secret, answer: Mapping[str, Any]) -> None:
    await page.finish(devices.core, token, answer)


async def test_a_signature_that_was_checked_for_one_request_decides_on_no_other(
    world: World, devices: Devices
) -> None:
    first, second = await pending(world, "60"), await pending(world, "61")
    link = await devices.link(first, BOB)
    shown = await devices.open(link)
    async with world.store.begin() as tx:
        spent = await passkey_links.spend(tx, link_digest(shown.token))
        assert spent is not None
        assertion = await proofs.signed(tx, world.core, spent, devices[BOB].answer(shown.options))
    proof = proofs.Proof(spent, assertion)

    await posting.post(world.core, second.id)
    for request, person in ((second, BOB), (first, CAROL)):
        with pytest.raises(NotAllowed) as refused:
            await approvals.approve(world.core, request.id, person, shown_digest=request.digest, proof=proof)
        assert refused.value.reason == "passkey_other"


async def test_nobody_approves_their_own_request_with_any_passkey(world: World, devices: Devices) -> None:
    request = await pending(world)

    with pytest.raises(PageRefused) as refused:
        await devices.approve(request, by=ALICE)

    assert refused.value.reason == "own_request"


async def test_an_approval_that_changed_while_the_page_was_open_is_refused(
    world: World, devices: Devices
) -> None:
    request = await pending(world, "600")
    url = await devices.link(request, BOB)
    shown = await devices.open(url)
    await devices.approve(request, by=CAROL)

    with pytest.raises(PageRefused) as refused:
        await _finish(devices, shown.token, devices[BOB].answer(shown.options))
    await devices.approve(request)
    await world.run_due()

    assert refused.value.reason == "stale"
    assert (await world.request(request.id)).state is State.SUCCEEDED


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE decision SET assertion = NULL",
        'UPDATE decision SET assertion = replace(assertion, \'"signature":"\', \'"signature":"AAAA\')',
        "UPDATE passkey SET slack_id = 'U0CAROL' WHERE slack_id = 'U0BOB'",
        "UPDATE passkey SET sealed_key = (SELECT sealed_key FROM passkey WHERE slack_id = 'U0CAROL')"
        " WHERE slack_id = 'U0BOB'",
        "DELETE FROM passkey",
    ],
)
async def test_what_the_database_holds_of_a_signature_is_checked_again_before_sending(
    world: World, devices: Devices, statement: str
) -> None:
    request = await pending(world)
    await devices.approve(request)
    await change(world, statement)

    await world.run_due()

    assert (await world.request(request.id)).state is State.CANCELLED
    assert not await world.sent("POST /topup")


async def test_the_signature_on_one_request_put_beside_another_sends_nothing(
    world: World, devices: Devices
) -> None:
    first, second = await pending(world, "60"), await pending(world, "61")
    await devices.approve(first)
    await devices.approve(second)
    await change(
        world,
        "UPDATE decision SET assertion = (SELECT assertion FROM decision WHERE request_id = :first)"
        " WHERE request_id = :second",
        first=first.id,
        second=second.id,
    )

    await world.run_due()

    assert (await world.request(first.id)).state is State.SUCCEEDED
    assert (await world.request(second.id)).state is State.CANCELLED


@pytest.mark.parametrize(
    "made",
    [
        "slack_id = 'U0CAROL'",
        "purpose = 'add'",
        "subject = 'R-0000'",
        "expires_at = '2099-01-01T00:00:00.000000Z'",
    ],
)
async def test_a_link_that_somebody_edited_opens_no_page(world: World, devices: Devices, made: str) -> None:
    link = await devices.link(await pending(world), BOB)
    await change(world, f"UPDATE passkey_link SET {made} WHERE purpose = 'approve'")

    with pytest.raises(PageRefused) as refused:
        await devices.open(link)
    assert refused.value.reason == "unknown"


async def test_a_link_that_somebody_wrote_for_an_approver_adds_no_device(
    world: World, devices: Devices
) -> None:
    """The thief knows the token of a row of his own, which says that Bob wants to add a passkey."""
    await devices.link(await pending(world), BOB)
    token = Secret("t" * 43)
    await change(
        world,
        "INSERT INTO passkey_link SELECT :digest, 'U0BOB', 'add', '', 0, '', 'n', '{}', '', made_at, expires_at, NULL,"
        " NULL, mac FROM passkey_link WHERE purpose = 'approve'",
        digest=link_digest(token),
    )

    with pytest.raises(PageRefused) as refused:
        await page.open_link(world.core, token)
    assert refused.value.reason == "unknown"


async def test_a_page_that_somebody_made_their_own_signs_nothing(world: World, devices: Devices) -> None:
    shown = await devices.open(await devices.link(await pending(world), BOB))
    own = Secret("t" * 43)
    await change(
        world, "UPDATE passkey_link SET page_digest = :own WHERE purpose = 'approve'", own=link_digest(own)
    )

    for token in (own, shown.token):
        with pytest.raises(PageRefused):
            await page.finish(world.core, token, devices[BOB].answer(shown.options))


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("used", ["opened", "answered"])
async def test_a_link_that_was_used_opens_nothing_again_with_its_row_of_before(
    world: World, devices: Devices, used: str, restarted: bool
) -> None:
    link = await devices.link(await pending(world), BOB)
    (before,) = await approval_links(world)
    shown = await devices.open(link)
    answer = devices[BOB].answer(shown.options)
    if used == "answered":
        (before,) = await approval_links(world)
        await _finish(devices, shown.token, answer)
    await change(
        world,
        "UPDATE passkey_link SET page_digest = :page_digest, terms = :terms, spent_at = :spent_at, mac = :mac"
        " WHERE purpose = 'approve'",
        **{name: before[name] for name in ("page_digest", "terms", "spent_at", "mac")},
    )
    if restarted:
        world.store._chain = ChainMemory()

    with pytest.raises(PageRefused) as refused:
        await (devices.open(link) if used == "opened" else _finish(devices, shown.token, answer))
    await changed_rows.tell_of_those_met(world.core)

    assert refused.value.reason == "used"
    assert "changed_outside" in await alert_kinds(world)


async def test_two_who_open_a_link_at_the_same_time_get_one_page(world: World, devices: Devices) -> None:
    link = await devices.link(await pending(world), BOB)
    async with world.store.begin() as tx:
        opened = [
            await passkey_links.open_page(tx, link_digest(token_of(link)), f"{number:064d}", {})
            for number in range(2)
        ]
        spent = [await passkey_links.spend(tx, f"{0:064d}") for _ in range(2)]

    assert [one is not None for one in opened] == [True, False]
    assert [one is not None for one in spent] == [True, False]


async def test_a_passkey_that_is_lost_before_sending_stops_what_it_approved(
    world: World, devices: Devices
) -> None:
    request = await pending(world)
    await devices.approve(request)
    await enrolment.lost(world.core, BOB, BOB)

    await world.run_due()

    stopped = await world.request(request.id)
    assert stopped.state is State.CANCELLED
    assert stopped.outcome_text.startswith("A passkey with which this was approved was removed since")


async def test_a_passkey_put_back_by_hand_after_its_end_counts_no_more(
    world: World, devices: Devices
) -> None:
    async with world.store.read() as tx:
        rows = (await tx.run(text("SELECT * FROM passkey WHERE slack_id = 'U0BOB'"))).mappings().all()
    (before,) = rows
    await enrolment.lost(world.core, BOB, BOB)
    await change(
        world,
        "UPDATE passkey SET state = :state, sealed_key = :sealed, version = :version WHERE id = :id",
        state="active",
        sealed=before["sealed_key"],
        version=before["version"],
        id=before["id"],
    )

    with pytest.raises(NotAllowed):
        await devices.link(await pending(world), BOB)


async def test_a_passkey_made_by_a_writer_of_the_database_counts_for_nobody(
    world: World, devices: Devices
) -> None:
    await change(world, "UPDATE passkey SET credential_id = 'mine' WHERE slack_id = 'U0BOB'")

    with pytest.raises(NotAllowed) as refused:
        await devices.link(await pending(world), BOB)

    assert refused.value.reason == "no_passkey"


async def test_a_policy_that_asks_for_passkeys_since_stops_what_was_clicked(world: World) -> None:
    request = await world.top_up()
    world.rebuild(policy=with_passkeys(), passkeys=SITE)

    await world.run_due()

    stopped = await world.request(request.id)
    assert (
        stopped.outcome_text
        == "The policy now asks for approval with a passkey. Nothing was sent; ask again."
    )


async def test_a_batch_is_approved_with_one_signature_and_each_row_is_checked(
    world: World, devices: Devices
) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    await devices.approve(batch)

    assert (await run_to_the_end(world, batch)).state is State.SUCCEEDED


async def test_a_batch_whose_signature_is_gone_sends_no_row(world: World, devices: Devices) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    await devices.approve(batch)
    await change(world, "UPDATE decision SET assertion = NULL WHERE request_id = :id", id=batch.id)

    await run_to_the_end(world, batch)

    assert not await world.sent("POST /topup")


async def test_resuming_takes_the_second_persons_passkey(world: World, devices: Devices) -> None:
    await pausing.pause(world.core, BOB, ["main"], "drill")
    await pausing.resume(world.core, BOB, ["main"])

    with pytest.raises(PasskeyNeeded) as needed:
        await pausing.resume(world.core, CAROL, ["main"])
    done = await devices.use(await links.for_needed(world.core, needed.value, CAROL), CAROL)

    assert done.text == "You confirmed it. Sending to main has resumed: Bob asked, Carol confirmed."


async def test_a_resolution_takes_the_passkeys_of_both(world: World, devices: Devices) -> None:
    request = await pending(world)
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    await devices.approve(request)
    await world.run_due()
    assert (await world.request(request.id)).state is State.UNRESOLVED

    for person in (ALICE, BOB):
        with pytest.raises(PasskeyNeeded) as needed:
            await approvals.resolve(
                world.core, request.id, person, verdict="failed", evidence="Not in the ledger"
            )
        await devices.use(await links.for_needed(world.core, needed.value, person), person)

    assert (await world.request(request.id)).state is State.FAILED


async def test_a_freeze_done_at_once_is_confirmed_with_a_passkey(world: World, devices: Devices) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run_due()
    assert (await world.request(request.id)).state is State.SUCCEEDED

    with pytest.raises(PasskeyNeeded) as needed:
        await approvals.confirm(world.core, request.id, BOB)
    done = await devices.use(await links.for_needed(world.core, needed.value, BOB), BOB)

    assert done.text.startswith(f"You confirmed {request.id}")


async def test_the_very_first_passkey_is_confirmed_by_a_click_and_every_later_one_with_a_passkey(
    world: World,
) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)
    first = await devices.make(BOB)
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", first)
    assert consent is not None
    await confirmation_answers.give(world.core, consent.id, CAROL)

    second = await devices.make(CAROL)
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", second)
    assert consent is not None

    with pytest.raises(PasskeyNeeded):
        await confirmation_answers.give(world.core, consent.id, BOB)


async def test_that_rows_are_gone_brings_no_click_back(world: World, devices: Devices) -> None:
    await change(world, "DELETE FROM passkey")
    made = await devices.make(BOB)
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", made)
    assert consent is not None

    with pytest.raises(PasskeyNeeded):
        await confirmation_answers.give(world.core, consent.id, CAROL)


@pytest.fixture
def command_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """`countersign keys reset-passkeys` on the database of the running bot."""

    @asynccontextmanager
    async def same_store(*, beside_the_bot: bool) -> AsyncIterator[Store]:
        yield world.store

    monkeypatch.setattr(environment, "open_store", same_store)
    monkeypatch.setattr(environment, "anchor_places", lambda _store: world.core.anchors)
    monkeypatch.setattr(environment, "operator", lambda: "cli:root")


@pytest.mark.usefixtures("command_line")
async def test_a_reset_at_the_terminal_is_one_critical_alert_and_leaves_no_button(
    world: World, devices: Devices
) -> None:
    waits = await devices.make(ALICE, "Newer phone")
    await enrolment.lost(world.core, BOB, CAROL)
    async with world.store.read() as tx:
        asked = [await confirmations.open_one(tx, "passkey_add", waits)]
        asked.append(await confirmations.open_one(tx, "passkey_lost", CAROL))
    await keys._reset_passkeys()

    for one in asked:
        assert one is not None
        with pytest.raises(Stale):
            await confirmation_answers.give(world.core, one.id, ALICE)
    for _ in range(2):  # and another process after a start says nothing more
        await resets.report(world.core)
        world.store._chain = ChainMemory()

    async with world.store.read() as tx:
        raised = await alert_rows.raised_since(tx, world.clock.now() - timedelta(days=1))
        open_ones = await alert_rows.open_of(tx, "consent")
    said = [(one.severity, one.title) for one in raised if one.subject == "all"]
    assert said == [("critical", "All passkeys were reset")]
    assert "cli:root did it" in next(one.text for one in raised if one.subject == "all")
    assert open_ones == [], "no button is left"


@pytest.mark.usefixtures("command_line")
async def test_after_a_reset_at_the_terminal_a_click_confirms_the_first_one_again(
    world: World, devices: Devices
) -> None:
    await keys._reset_passkeys()
    made = await devices.make(BOB, "New phone")
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", made)
    assert consent is not None
    await confirmation_answers.give(world.core, consent.id, CAROL)
    await devices.approve(await pending(world))
    again = await devices.make(CAROL, "New phone")  # from now on as ever: with the passkey of another
    said = await devices.confirm(again, BOB)
    await enrolment.lost(world.core, BOB, BOB)
    after_a_loss = await devices.confirm(await devices.make(BOB, "Newest phone"), CAROL)

    assert "works from now on" in said
    assert "needs one more person" in after_a_loss


async def test_a_row_of_a_list_is_resolved_with_passkeys_where_the_list_is_approved_with_them(
    world: World, devices: Devices
) -> None:
    tiers = (Tier(Decimal(15), 1, passkey=True),)
    world.rebuild(policy=replace(a_policy(), kinds={"card_topup": KindPolicy(tiers=tiers)}))
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    await devices.approve(batch)
    await world.run(20)
    row = next(one for one in await rows_of(world, batch) if one.state is State.UNRESOLVED)

    for person in (ALICE, BOB):
        with pytest.raises(PasskeyNeeded) as needed:
            await approvals.resolve(
                world.core, row.id, person, verdict="failed", evidence="Not in the ledger"
            )
        await devices.use(await links.for_needed(world.core, needed.value, person), person)

    assert (await world.request(row.id)).state is State.FAILED


async def test_card_details_are_not_shown_once_the_passkey_of_the_approval_is_lost(
    world: World, devices: Devices
) -> None:
    token = await _details_link(world, devices)
    await enrolment.lost(world.core, BOB, BOB)

    with pytest.raises(NotShown) as refused:
        await card_details_access.open_link(world.core, token, Manner.FRAME)

    assert refused.value.reason == "passkey_gone"
    assert not await world.sent("GET /pan")


async def test_card_details_are_not_shown_where_the_signature_is_gone(world: World, devices: Devices) -> None:
    token = await _details_link(world, devices)
    await change(world, "UPDATE decision SET assertion = NULL")

    with pytest.raises(NotShown):
        await card_details_access.open_link(world.core, token, Manner.FRAME)

    assert not await world.sent("GET /pan")


async def _details_link(world: World, devices: Devices) -> Secret:
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    await devices.approve(request)
    await execute(world, request)
    view = await details_link.make_link(world.core, request.id)
    assert view is not None
    return token_of(view.url)


async def test_nobody_confirms_their_own_passkey(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)
    made = await devices.make(BOB)

    with pytest.raises(NotAllowed) as refused:
        await devices.confirm(made, BOB)

    assert refused.value.reason == "own_request"


async def test_a_passkey_that_nobody_confirmed_approves_nothing(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)
    await devices.make(BOB)

    with pytest.raises(NotAllowed) as refused:
        await devices.link(await pending(world), BOB)

    assert refused.value.reason == "no_passkey"


async def test_a_further_passkey_needs_a_signature_by_the_first(world: World, devices: Devices) -> None:
    thief = Authenticator(SITE.origin)
    shown = await devices.open(await enrolment.begin(world.core, BOB, "Phone"))

    with pytest.raises(PageRefused) as refused:
        await _finish(devices, shown.token, thief.create(shown.options["create"]))

    assert refused.value.reason == "passkey_not_genuine"


async def test_a_key_that_a_passkey_signed_for_which_ended_since_takes_two_others(
    world: World, devices: Devices
) -> None:
    """It may have been made with the device that was stolen, before the loss was noticed."""
    (old,) = await devices.ids(ALICE)
    made = await devices.make(ALICE, "Phone")
    await enrolment.revoke(world.core, ALICE, old)

    assert "needs one more person" in await devices.confirm(made, CAROL)


async def test_after_a_loss_two_others_confirm_the_next_passkey(world: World, devices: Devices) -> None:
    await enrolment.lost(world.core, CAROL, BOB)
    world.people.groups["@card-approvers"].add(ALICE)
    await world.advance(people.DECIDED_WITHIN_S)
    await devices.confirm(BOB, ALICE, "passkey_lost")
    made = await devices.make(BOB, "New phone")

    await devices.confirm(made, CAROL)
    with pytest.raises(PageRefused) as again:
        await devices.confirm(made, CAROL)
    with pytest.raises(NotAllowed):
        await devices.link(await pending(world), BOB)
    await devices.confirm(made, ALICE)

    assert again.value.reason == "already_decided"
    await devices.approve(await pending(world, "70"))


async def test_who_reports_a_loss_does_not_confirm_it(world: World, devices: Devices) -> None:
    await enrolment.lost(world.core, CAROL, BOB)

    with pytest.raises(PageRefused) as own:
        await devices.confirm(BOB, BOB, "passkey_lost")
    with pytest.raises(PageRefused) as asker:
        await devices.confirm(BOB, CAROL, "passkey_lost")

    assert (own.value.reason, asker.value.reason) == ("own_passkeys", "own_request")


async def test_a_signature_on_one_persons_page_is_bound_to_that_person() -> None:
    whole = Bound("approve", "R-7K3M", 1, "ab", BOB, "n")
    others = [
        replace(whole, purpose="confirm"),
        replace(whole, subject="R-7K3N"),
        replace(whole, version=2),
        replace(whole, digest="ac"),
        replace(whole, person=CAROL),
        replace(whole, nonce="m"),
    ]

    assert len({one.challenge() for one in [whole, *others]}) == 7
    assert unbase64url(base64url(whole.challenge())) == whole.challenge()


async def test_every_step_is_on_the_audit_chain_with_the_signature(world: World, devices: Devices) -> None:
    request = await pending(world)
    await devices.approve(request)

    done = [action for action, _, _ in await actions(world)]
    async with world.store.read() as tx:
        (approval,) = [
            e async for e in audit.about(tx, f"request:{request.id}") if e.action == "request.approval"
        ]

    for action in (
        "passkey.made",
        "passkey.added",
        "passkey.link_made",
        "passkey.page_opened",
        "passkey.page_used",
    ):
        assert action in done
    assert '"client_data_json"' in approval.body


async def test_no_token_of_a_link_is_kept(world: World, devices: Devices) -> None:
    url = await devices.link(await pending(world), BOB)

    async with world.store.read() as tx:
        kept = str((await tx.run(text("SELECT * FROM passkey_link"))).all()) + str(
            [e.body async for e in audit.entries(tx)]
        )

    assert token_of(url).reveal() not in kept


async def test_a_stale_window_says_so(world: World, devices: Devices) -> None:
    with pytest.raises(Stale):
        await confirmation_answers.give(world.core, (await _answered(world, devices)), CAROL)


async def _answered(world: World, devices: Devices) -> str:
    await pausing.pause(world.core, BOB, ["main"], "drill")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "resume", "main")
    assert consent is not None
    await devices.confirm("main", CAROL, "resume")
    return consent.id
