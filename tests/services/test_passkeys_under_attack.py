"""What a thief tries on passkeys: with Slack sessions of others, with two accounts, and by writing to the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

import verify_audit
from bot.domain.errors import AlreadyDecided, NotAllowed, NotFound, PasskeyNeeded
from bot.domain.ids import short_code
from bot.domain.passkeys import CONFIRMED_WITHIN, Purpose, Site, base64url, key_digest, unbase64url
from bot.domain.people import Actor, Delegation
from bot.domain.requests import State
from bot.services import people
from bot.services.messages import view_model_loader
from bot.services.operators import confirmation_answers, deep_check, pausing
from bot.services.overview import alert_list
from bot.services.passkeys import enrolment, links, page
from bot.services.passkeys.page import PageRefused
from bot.services.requests import batch_submission, request_lookups
from storage import audit
from storage.errors import ChangedOutside
from storage.operators import passkeys
from storage.requests import confirmations
from storage.vault import new_master
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, run_to_the_end
from tests.services.test_key_change import rewrapped, with_keys
from tests.support.authenticator import Authenticator
from tests.support.passkeys import SITE, Devices, everybody_has_one, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, HOME, MASTER, World

pytestmark = pytest.mark.by_turns(4)

DORA, CAROL_TWO = "U0DORA", "U0CAROLTWO"


@pytest.fixture
async def devices(world: World) -> Devices:
    return await everybody_has_one(world)


async def change(world: World, statement: str, **values: Any) -> None:
    """What somebody does who can write to the database."""
    async with world.store.begin() as tx:
        await tx.run(text(statement), values)


async def confirm_by_click(world: World, passkey_id: str, by: str) -> str:
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", passkey_id)
    assert consent is not None
    return await confirmation_answers.give(world.core, consent.id, by)


async def an_approver(world: World, slack_id: str, **flags: Any) -> None:
    world.people.actors[slack_id] = Actor(slack_id, slack_id.title(), team_id=HOME, **flags)
    world.people.groups["@card-approvers"].add(slack_id)
    await world.advance(people.DECIDED_WITHIN_S)


_REPEAT = (
    "INSERT INTO audit (seq, at, actor, action, subject, outcome, reason_code, body, policy_version, prev, hash, mac)"
    " SELECT seq + {after}, at, actor, 'passkey.reset', 'passkey:all', outcome, reason_code, '', policy_version, prev,"
    " hash, mac FROM audit WHERE seq = (SELECT max(seq) FROM audit)"
)


@pytest.mark.parametrize(
    "statement",
    [
        _REPEAT.format(after=1),
        _REPEAT.format(after=1000),
        "UPDATE audit SET action = 'passkey.reset', subject = 'passkey:all' WHERE seq = (SELECT max(seq) FROM audit)",
        "DELETE FROM audit WHERE action = 'passkey.added'",
        "DELETE FROM audit",
    ],
    ids=[
        "a reset put behind the end",
        "a reset far behind the end",
        "an entry made a reset",
        "additions gone",
        "all gone",
    ],
)
async def test_no_change_of_the_log_lets_a_click_confirm_a_passkey_again(
    world: World, devices: Devices, statement: str
) -> None:
    await change(world, "DELETE FROM passkey")
    made = await devices.make(BOB)
    async with world.store.begin() as tx:
        triggers = await tx.run(
            text("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'")
        )
        for (name,) in triggers.all():
            await tx.run(text(f"DROP TRIGGER {name}"))
    await change(world, statement)

    with pytest.raises((PasskeyNeeded, ChangedOutside)):
        await confirm_by_click(world, made, CAROL)


async def row_of(world: World, person: str) -> dict[str, Any]:
    async with world.store.read() as tx:
        found = await tx.run(text("SELECT * FROM passkey WHERE slack_id = :person"), {"person": person})
        return dict(found.mappings().one())


async def put_back(world: World, row: dict[str, Any]) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in row)
    await change(world, f"UPDATE passkey SET {columns} WHERE id = :id", **row)


async def test_the_counter_of_a_device_is_not_set_back(world: World, devices: Devices) -> None:
    before, copy = await row_of(world, BOB), devices[BOB].count
    await devices.approve(await world.top_up("50", approved=False))
    request = await world.top_up("51", approved=False)
    shown = await devices.open(await devices.link(request, BOB))
    await put_back(world, before)
    devices[BOB].count = copy

    with pytest.raises(PageRefused) as refused:
        await page.finish(world.core, shown.token, devices[BOB].answer(shown.options))

    assert refused.value.reason == "passkey_unknown"


async def found_by_the_check(world: World) -> list[str]:
    async with world.store.read() as tx:
        return [str(one) for one in await deep_check.differences(tx)]


async def test_the_nightly_check_finds_a_passkey_that_was_put_back_deleted_or_edited(
    world: World, devices: Devices
) -> None:
    (bobs,) = await devices.ids(BOB)
    (carols,) = await devices.ids(CAROL)
    before = await row_of(world, BOB)
    assert not await found_by_the_check(world)
    await enrolment.lost(world.core, BOB, BOB)
    assert not await found_by_the_check(world)

    await put_back(world, before)
    assert await found_by_the_check(world) == [f"passkey {bobs}: it had ended and was put back"]
    await change(world, "UPDATE passkey SET slack_id = 'U0EVE' WHERE id = :id", id=bobs)
    await change(world, "DELETE FROM passkey WHERE id = :id", id=carols)
    assert await found_by_the_check(world) == [
        f"passkey {bobs}: it was edited or invented",
        f"passkey {carols}: it is on record, and was deleted or switched off",
    ]


async def test_that_rows_are_gone_does_not_make_a_lost_passkey_a_first_one(
    world: World, devices: Devices
) -> None:
    await enrolment.lost(world.core, BOB, BOB)
    await change(world, "DELETE FROM passkey WHERE slack_id = :bob", bob=BOB)
    made = await devices.make(BOB, "Phone")

    said = await devices.confirm(made, CAROL)

    assert "needs one more person" in said


async def test_two_accounts_of_one_person_are_no_two_people_who_confirm_after_a_loss(
    world: World, devices: Devices
) -> None:
    await an_approver(world, CAROL_TWO)
    policy = world.core.policy
    same = replace(policy.people, same_person=((CAROL, CAROL_TWO),))
    world.rebuild(policy=replace(policy, people=same))
    await devices.add(CAROL_TWO, BOB)
    await enrolment.lost(world.core, BOB, BOB)
    made = await devices.make(BOB, "Phone")
    await devices.confirm(made, CAROL)

    with pytest.raises(PageRefused, match="one person with you") as refused:
        await devices.confirm(made, CAROL_TWO)

    assert refused.value.reason == AlreadyDecided.reason
    assert not await active(world, BOB)


async def active(world: World, person: str) -> list[str]:
    return [one.id for one in (await enrolment.listed(world.core, person)).mine if one.state == "active"]


async def test_a_second_account_does_not_confirm_the_passkey_of_the_first(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    await an_approver(world, CAROL_TWO)
    policy = world.core.policy
    world.rebuild(policy=replace(policy, people=replace(policy.people, same_person=((CAROL, CAROL_TWO),))))
    made = await Devices(world).make(CAROL)

    with pytest.raises(NotAllowed, match="another account of yours"):
        await confirm_by_click(world, made, CAROL_TWO)


async def test_a_delegate_approves_with_a_passkey_of_their_own(world: World, devices: Devices) -> None:
    world.people.actors[DORA] = Actor(DORA, "Dora", team_id=HOME)
    world.people.groups["@bob"] = {BOB}
    now = world.clock.now()
    delegation = Delegation("@bob", DORA, now - timedelta(hours=1), now + timedelta(days=2), "on leave")
    world.rebuild(policy=replace(world.core.policy, delegations=(delegation,)))
    request = await world.top_up("50", approved=False)

    with pytest.raises(PasskeyNeeded):
        await world.approve(request, by=DORA)
    with pytest.raises(NotAllowed, match="you have none yet"):
        await devices.link(request, DORA)
    await devices.add(DORA, CAROL)
    bobs = devices[BOB]
    with pytest.raises(LookupError):
        await devices.use(await devices.link(request, DORA), BOB)
    await devices.approve(request, by=DORA)
    await world.run_due()

    assert bobs.signed
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_the_passkey_of_a_requester_approves_nothing_of_theirs(world: World, devices: Devices) -> None:
    await an_approver(world, ALICE)
    request = await world.top_up("50", approved=False)

    with pytest.raises(PageRefused) as refused:
        await devices.approve(request, by=ALICE)

    assert refused.value.reason == "own_request"


async def test_another_address_of_countersign_is_no_change_of_what_was_approved(
    world: World, devices: Devices
) -> None:
    request = await world.top_up("50", approved=False)
    await devices.approve(request)
    world.rebuild(passkeys=Site.at("https://elsewhere.example.com"))

    await world.run_due()

    stopped = await world.request(request.id)
    assert stopped.state is State.CANCELLED
    assert "COUNTERSIGN_PUBLIC_URL" in stopped.outcome_text
    assert not await alerts(world, "changed_outside")


async def alerts(world: World, kind: str) -> list[str]:
    async with world.store.read() as tx:
        rows = await tx.run(text("SELECT title FROM alert WHERE kind = :kind"), {"kind": kind})
        return [row[0] for row in rows.all()]


@pytest.mark.parametrize("is_list", [False, True], ids=["one card", "a list"])
async def test_what_was_approved_is_sent_under_the_next_master_key_too(
    world: World, devices: Devices, is_list: bool
) -> None:
    ask = ask_bulk(world, a_list(world, "10", "11")) if is_list else world.top_up("50", approved=False)
    request = await ask
    await devices.approve(request)
    new = new_master()
    await with_keys(world, new, MASTER)
    await rewrapped(world)
    await with_keys(world, new)

    await (run_to_the_end(world, request) if is_list else world.run_due())

    assert (await world.request(request.id)).state is State.SUCCEEDED
    await world.store.close()


SHOWN_AS = (
    "UPDATE request SET terms = replace(terms, '600', '5'), summary = replace(summary, '600.00', '5.00'),"
    " exposure_usd = :usd WHERE id = :id"
)


@pytest.mark.parametrize("when", ["before it is shown", "after it was shown"])
async def test_terms_that_are_others_while_people_read_them_are_approved_by_nobody(
    world: World, devices: Devices, when: str
) -> None:
    request = await world.top_up("600", approved=False)
    link = await devices.link(request, BOB)
    async with world.store.read() as tx:
        columns = "terms, summary, exposure_usd, id"
        row = (
            await tx.run(text(f"SELECT {columns} FROM request WHERE id = :id"), {"id": request.id})
        ).mappings()
        before = dict(row.one())

    async def opened_and_pressed() -> None:
        if when == "before it is shown":
            await change(world, SHOWN_AS, id=request.id, usd="5.00")
            await devices.open(link)
        else:
            shown = await devices.open(link)
            await change(world, SHOWN_AS, id=request.id, usd="5.00")
            await page.finish(world.core, shown.token, devices[BOB].answer(shown.options))

    with pytest.raises(PageRefused) as refused:
        await opened_and_pressed()
    await change(
        world,
        "UPDATE request SET terms = :terms, summary = :summary, exposure_usd = :exposure_usd WHERE id = :id",
        **before,
    )
    await world.run_due()

    assert refused.value.reason == "terms_changed_outside"
    assert (await world.request(request.id)).state is State.PENDING


async def test_rows_that_are_others_while_people_read_them_are_approved_by_nobody(
    world: World, devices: Devices
) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    link = await devices.link(batch, BOB)
    await change(
        world,
        "UPDATE request SET summary = replace(summary, '10.00', '1.00') WHERE parent_id = :id",
        id=batch.id,
    )

    with pytest.raises(PageRefused) as refused:
        await devices.open(link)

    assert refused.value.reason == "terms_changed_outside"


async def code_of(world: World, passkey_id: str) -> str:
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", passkey_id)
    assert consent is not None
    return str(consent.terms["code"])


async def test_the_check_code_of_a_passkey_cannot_be_worked_out_from_its_key(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    made = await Devices(world).make(BOB)
    async with world.store.read() as tx:
        found = await passkeys.get(tx, made)
    assert found is not None
    assert found.key is not None

    shown = await code_of(world, made)
    (listed,) = (await enrolment.listed(world.core, BOB)).mine

    assert shown == listed.code
    assert shown != short_code(key_digest(found.key.public_key))


async def test_the_same_key_has_another_check_code_as_another_passkey(world: World) -> None:
    async with world.store.read() as tx:
        codes = {enrolment.check_code(tx, one, base64url(b"key")) for one in ("K1", "K2")}

    assert len(codes) == 2


async def test_making_and_removing_passkeys_shows_ten_check_codes_a_day(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)
    begun = await enrolment.begin(world.core, BOB, "Laptop")
    for _ in range(10):
        await enrolment.revoke(world.core, BOB, await devices.make(BOB))

    with pytest.raises(NotAllowed) as another:
        await enrolment.begin(world.core, BOB, "Laptop")
    with pytest.raises(PageRefused) as begun_before:
        await devices.use(begun, BOB)
    assert (another.value.reason, begun_before.value.reason) == ("too_many", "too_many")

    await world.advance(CONFIRMED_WITHIN.total_seconds())
    await devices.make(BOB)


async def two_askings(world: World) -> tuple[str, str]:
    """Bob asks to resume sending, and a thief with Dora's session for a passkey: the ids of the two askings."""
    await an_approver(world, DORA)
    made = await Devices(world).make(DORA)
    await pausing.pause(world.core, BOB, ["main"], "drill")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        resume = await confirmations.open_one(tx, "resume", "main")
        add = await confirmations.open_one(tx, "passkey_add", made)
    assert resume is not None
    assert add is not None
    return resume.id, add.id


async def test_the_page_and_the_message_say_what_is_signed_whatever_the_alerts_row_says(
    world: World, devices: Devices
) -> None:
    _, add = await two_askings(world)
    await change(
        world, "UPDATE alert SET title = 'Bob asks to resume', text = 'x' WHERE subject = :id", id=add
    )
    async with world.store.read() as tx:
        alert_id = (await tx.run(text("SELECT id FROM alert WHERE subject = :id"), {"id": add})).scalar_one()
        message = await view_model_loader.alert(tx, world.core, alert_id)
    assert message is not None

    link = await links.for_needed(world.core, PasskeyNeeded(Purpose.CONSENT, add), CAROL)
    shown = await devices.open(link)

    for title, words in ((shown.heading, shown.lead), (message.title, message.text)):
        assert title.endswith("asks to add a passkey: Laptop")
        assert "check code of the new passkey" in words


async def test_the_button_of_one_asking_confirms_no_other(world: World, devices: Devices) -> None:
    resume, add = await two_askings(world)
    async with world.store.read() as tx:
        alert_id = (
            await tx.run(text("SELECT id FROM alert WHERE subject = :id"), {"id": resume})
        ).scalar_one()
    assert await confirmation_answers.asked_in(world.core, alert_id) == resume
    await change(world, "UPDATE alert SET subject = :add WHERE id = :id", add=add, id=alert_id)

    with pytest.raises(NotFound):
        await confirmation_answers.asked_in(world.core, alert_id)
    async with world.store.read() as tx:
        message = await view_model_loader.alert(tx, world.core, alert_id)
    assert message is not None
    assert message.title == "This was changed outside Countersign"


def _junk(text: str) -> str:
    return f"{text[:8]}*{text[8:]}"


def _spare_bits(text: str) -> str:
    """The last letter of base64 has bits that no decoder looks at, where the length is no multiple of three bytes."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[(alphabet.index(text[-1]) + 1) % 64]


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)


def _other_alphabet(text: str) -> str:
    return text.replace("-", "+").replace("_", "/")


def exported_is_right(entries: list[audit.Entry]) -> None:
    """As the auditor's program sees them. Raises `verify_audit.Broken`."""
    seen = verify_audit.Passkeys(verify_audit.with_cryptography())
    for entry in entries:
        seen.see(asdict(entry))
    seen.finish()


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("how", [_junk, _spare_bits, _padded, _other_alphabet])
@pytest.mark.parametrize("field", ["authenticatorData", "clientDataJSON", "signature"])
async def test_what_no_browser_writes_is_not_kept_so_that_each_export_can_be_checked(
    world: World, devices: Devices, field: str, how: Callable[[str], str]
) -> None:
    shown = await devices.open(await devices.link(await world.top_up("50", approved=False), BOB))
    answer = devices[BOB].answer(shown.options)
    before = answer["response"][field]
    answer["response"][field] = how(before)

    with suppress(PageRefused):
        await page.finish(world.core, shown.token, answer)

    async with world.store.read() as tx:
        exported_is_right([one async for one in audit.entries(tx)])
        kept = [json.loads(one.body) async for one in audit.entries(tx) if one.action == "request.approval"]
    written = [base64url(unbase64url(one["assertion"]["signature"])) for one in kept]
    assert written == [one["assertion"]["signature"] for one in kept]


async def test_a_challenge_that_is_written_in_another_way_is_not_kept(world: World, devices: Devices) -> None:
    """A device of one's own signs whatever one likes, such as padding that the library overlooks."""
    shown = await devices.open(await devices.link(await world.top_up("50", approved=False), BOB))
    options = dict(shown.options["get"])

    class Padding(Authenticator):
        def _client_data(self, what: str, options: Any) -> bytes:
            said = json.loads(super()._client_data(what, options))
            return json.dumps(said | {"challenge": said["challenge"] + "*"}).encode()

    thief = Padding(devices[BOB].origin, keys=devices[BOB].keys, count=devices[BOB].count)
    with pytest.raises(PageRefused) as refused:
        await page.finish(world.core, shown.token, thief.sign(options))

    assert refused.value.reason == "passkey_not_genuine"


async def test_a_key_is_kept_with_the_fields_of_its_algorithm_alone(world: World) -> None:
    """Else somebody's own device could give a key that no auditor's program reads."""
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)

    class Chatty(Authenticator):
        def cose(self, fields: Any) -> bytes:
            return super().cose({**fields, 99: "my key", -70000: [1, 2]})

    devices.of[BOB] = Chatty(SITE.origin)
    await devices.add(BOB, CAROL)
    await devices.approve(await world.top_up("50", approved=False))

    async with world.store.read() as tx:
        exported_is_right([one async for one in audit.entries(tx)])


async def test_who_did_not_make_ten_passkeys_can_add_one_once_two_others_ended_them(world: World) -> None:
    """A stolen session makes one after the other in Bob's name; its owner is not shut out for a day by that."""
    devices = await everybody_has_one(world)
    await an_approver(world, DORA)
    await an_approver(world, ALICE)
    for _ in range(10):
        await enrolment.revoke(world.core, DORA, await devices.make(DORA))
    with pytest.raises(NotAllowed) as refused:
        await enrolment.begin(world.core, DORA, "Laptop")
    assert "report and confirm your passkeys as lost" in str(refused.value)

    with pytest.raises(NotFound):  # by the session itself it changes nothing
        await enrolment.lost(world.core, DORA, DORA)
    with pytest.raises(NotAllowed):
        await enrolment.begin(world.core, DORA, "Laptop")
    await enrolment.lost(world.core, BOB, DORA)
    await devices.confirm(DORA, CAROL, "passkey_lost")

    await devices.add(DORA, CAROL)
    assert await active(world, DORA)


async def test_the_page_shows_nothing_else_than_its_link_was_made_for(world: World, devices: Devices) -> None:
    """Its list became another one meanwhile: the page would show the new one and sign the old one."""
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    rows = await rows_of(world, batch)
    link = await devices.link(batch, BOB)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [rows[0].id])

    with pytest.raises(PageRefused, match="changed after this link was made"):
        await devices.open(link)


async def test_the_heading_of_a_list_is_of_what_was_requested(
    world: World, devices: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edited while the cards are read from the card provider, between the rows and the heading."""
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    link = await devices.link(batch, BOB)
    read_cards = request_lookups._read_cards

    async def meanwhile(*given: Any) -> Any:
        await change(world, "UPDATE request SET summary = 'Nothing much' WHERE id = :id", id=batch.id)
        return await read_cards(*given)

    monkeypatch.setattr(request_lookups, "_read_cards", meanwhile)
    with pytest.raises(PageRefused) as refused:
        await devices.open(link)

    assert refused.value.reason == "terms_changed_outside"


async def test_the_list_of_alerts_and_the_home_say_what_is_signed(world: World, devices: Devices) -> None:
    _, add = await two_askings(world)
    await change(
        world, "UPDATE alert SET title = 'Bob asks to resume', text = 'x' WHERE subject = :id", id=add
    )

    listed = (await alert_list.shown(world.core)).alerts
    async with world.store.read() as tx:
        at_home = await alert_list.open_alerts(tx, world.core)

    for found in (listed, at_home):
        (asked,) = [one for one in found if one.subject == add]
        assert asked.title.endswith("asks to add a passkey: Laptop")
        assert "check code of the new passkey" in asked.text
