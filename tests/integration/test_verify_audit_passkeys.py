"""An auditor proves with `verify_audit.py` who approved with their device, without Countersign and without its word.

The changes here are those of somebody who owns the log and makes the chain whole again after each.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from bot import operations
from bot.cli import environment, keys
from bot.domain.errors import PasskeyNeeded
from bot.domain.passkeys import Bound, base64url, unbase64url
from bot.services import people
from bot.services.operators import pausing
from bot.services.passkeys import enrolment, links
from bot.services.requests import approvals, batch_submission
from storage import audit
from storage.store import Store
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import processor
from tests.support.authenticator import Authenticator
from tests.support.passkeys import SITE, Devices, everybody_has_one, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World, a_world
from verify_audit import fingerprint

SCRIPT = Path(__file__).parents[2] / "verify_audit.py"
Json = dict[str, Any]
#: An entry, with its body read.
Entries = list[Json]


async def _exported(file: Path) -> None:
    async with a_world(file.parent) as world:
        await _work(world)
        async with world.store.read() as tx:
            with file.open("w") as to:
                await audit.export(tx, to.write, "jsonl")


async def _work(world: World) -> None:
    """Everything that is decided with passkeys: two approvals, a confirmation, a resolution, a resume, and a loss."""
    devices = await everybody_has_one(world)
    request = await world.top_up("50", approved=False)
    await devices.approve(request)
    await devices.approve(await world.top_up("600", approved=False), by=CAROL)
    await devices.approve(await ask_bulk(world, a_list(world, "10", "11")))
    shorter = await ask_bulk(world, a_list(world, "12", "13"))
    rows = await rows_of(world, shorter)
    await batch_submission.leave_out(world.core, shorter.id, ALICE, [rows[0].id])
    await devices.approve(shorter)
    await world.run(5)
    await _freeze_now(world, devices)
    await _resolve(world, devices)
    await pausing.pause(world.core, BOB, ["main"], "drill")
    await pausing.resume(world.core, BOB, ["main"])
    await devices.confirm("main", CAROL, "resume")
    await devices.add(BOB, CAROL)  # a further one, for which the first signs
    await devices.add(ALICE, CAROL)
    await enrolment.lost(world.core, BOB, BOB)
    world.people.groups["@card-approvers"].add(ALICE)
    await world.advance(people.DECIDED_WITHIN_S)
    await devices.add(BOB, CAROL, ALICE)
    await devices.approve(await world.top_up("51", approved=False))


async def _freeze_now(world: World, devices: Devices) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run_due()
    with pytest.raises(PasskeyNeeded) as needed:
        await approvals.confirm(world.core, request.id, BOB)
    await devices.use(await links.for_needed(world.core, needed.value, BOB), BOB)


async def _resolve(world: World, devices: Devices) -> None:
    request = await world.ask("card_topup", {"card": world.cards[1]["id"], "amount_usd": "10"})
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    await devices.approve(request)
    await world.run_due()
    for person in (ALICE, BOB):
        with pytest.raises(PasskeyNeeded) as needed:
            await approvals.resolve(
                world.core, request.id, person, verdict="failed", evidence="Not in the ledger"
            )
        await devices.use(await links.for_needed(world.core, needed.value, person), person)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("export") / "audit.jsonl"
    asyncio.run(_exported(file))
    return file


def checked(export: Path, *more: str, with_packages: bool = True) -> tuple[int, str]:
    """Run away from the project; without packages there is no `cryptography`."""
    asked = [sys.executable, "-I", *([] if with_packages else ["-S"]), str(SCRIPT), str(export), *more]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=export.parent)
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.fixture
def changed(whole: Path, tmp_path: Path) -> Callable[[Callable[[Entries], object]], Path]:
    """The export after a change of its entries, whose numbers and fingerprints fit again."""

    def change(how: Callable[[Entries], object]) -> Path:
        entries = [json.loads(line) for line in whole.read_text().splitlines()]
        entries = [{**one, "body": json.loads(one["body"])} for one in entries]
        how(entries)
        before, lines = "", []
        for number, one in enumerate(entries, start=1):
            body = json.dumps(one["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            entry = {**one, "seq": number, "prev": before, "body": body}
            entry["hash"] = before = fingerprint(entry)
            lines.append(json.dumps(entry))
        file = tmp_path / "audit.jsonl"
        file.write_text("\n".join(lines) + "\n")
        return file

    return change


def by_passkey(entries: Entries, action: str = "request.approval") -> Entries:
    found = [one for one in entries if one["action"] == action and "assertion" in one["body"]]
    assert found, f"nothing was {action} with a passkey"
    return found


def nothing(_entries: Entries) -> None:
    """The chain is made again as it was."""


def test_every_decision_with_a_passkey_is_proven(
    whole: Path, changed: Callable[[Callable[[Entries], object]], Path]
) -> None:
    code, said = checked(whole, "--passkeys")

    assert code == 0, said
    assert (
        "Passkeys: 18 signature(s) are right (2 to add, 6 to approve, 1 to confirm, 7 to consent, 2 to resolve)"
        in said
    )
    assert (
        said.count("with the passkey K-") == 6 + 1 + 2 + 1
    )  # approvals, and what else is decided; not passkeys
    assert said.count("as a row of R-") == 3
    assert "by a click\n" not in said
    assert said.count("fingerprint ") == 6 + 1  # of each passkey, and of the first one to ask about
    assert checked(changed(nothing))[0] == 0


def test_without_cryptography_it_says_that_the_signatures_were_not_checked(whole: Path) -> None:
    code, said = checked(whole, with_packages=False)

    assert code == 0
    assert "Not checked: 18 signature(s) with passkeys" in said
    assert "pip install cryptography" in said


def signed_by_another(entries: Entries) -> None:
    """The signature is of a key of somebody who has none here."""
    device = Authenticator(SITE.origin)
    device.create({"rp": {"id": SITE.rp_id}, "challenge": "AAAA"})
    for one in by_passkey(entries)[:1]:
        assertion = one["body"]["assertion"]
        options = {"challenge": base64url(Bound(**assertion["bound"]).challenge()), "rpId": SITE.rp_id}
        (own,) = device.keys
        made = device.sign({**options, "allowCredentials": []}, with_key=own)["response"]
        assertion |= {
            "authenticator_data": made["authenticatorData"],
            "client_data_json": made["clientDataJSON"],
            "signature": made["signature"],
        }


def signature_of_another_approval(entries: Entries) -> None:
    first, second = by_passkey(entries)[:2]
    second["body"]["assertion"] = first["body"]["assertion"]


def approval_twice(entries: Entries) -> None:
    (first, *_) = by_passkey(entries)
    entries.insert(entries.index(first) + 1, json.loads(json.dumps(first)))


def other_terms(entries: Entries) -> None:
    for one in by_passkey(entries)[:1]:
        digest = one["body"]["digest"]
        one["body"]["digest"] = digest[:-1] + ("1" if digest.endswith("0") else "0")
        one["body"]["assertion"]["bound"]["digest"] = one["body"]["digest"]


def other_request(entries: Entries) -> None:
    for one in by_passkey(entries)[:1]:
        one["subject"] = "request:R-2222:2"


def other_version(entries: Entries) -> None:
    for one in by_passkey(entries)[:1]:
        body = {**one["body"], "state": "pending"}
        before = {**one, "action": "request.try_now", "subject": one["subject"][:-1] + "2", "body": body}
        entries.insert(entries.index(one), before)
        one["subject"] = one["subject"][:-1] + "3"


def other_person(entries: Entries) -> None:
    for one in by_passkey(entries)[:1]:
        one["actor"] = CAROL


def other_verdict(entries: Entries) -> None:
    for one in by_passkey(entries, "request.resolution_proposed"):
        one["body"]["verdict"] = "succeeded"


def other_consent(entries: Entries) -> None:
    for one in by_passkey(entries, "consent.given"):
        if one["body"]["kind"] == "resume":
            one["body"]["about"] = "other"


def consent_twice(entries: Entries) -> None:
    (first, *_) = by_passkey(entries, "consent.given")
    entries.insert(entries.index(first) + 1, first)


def no_fingerprint_asked(entries: Entries) -> None:
    for one in by_passkey(entries)[:1]:
        assertion = one["body"]["assertion"]
        data = bytearray(unbase64url(assertion["authenticator_data"]))
        data[32] &= ~0x04
        assertion["authenticator_data"] = base64url(bytes(data))


def other_page(entries: Entries) -> None:
    for one in by_passkey(entries)[:1]:
        assertion = one["body"]["assertion"]
        said = json.loads(unbase64url(assertion["client_data_json"])) | {"origin": "https://evil.example"}
        assertion["client_data_json"] = base64url(json.dumps(said).encode())


def ended_before(entries: Entries) -> None:
    (first, *_) = by_passkey(entries)
    ended = {
        **first,
        "action": "passkey.ended",
        "subject": f"passkey:{first['body']['assertion']['passkey']}",
    }
    entries.insert(entries.index(first), ended)


def key_put_in_place(entries: Entries) -> None:
    added = [one for one in entries if one["action"] == "passkey.added"]
    added[0]["body"]["public_key"] = added[1]["body"]["public_key"]


def added_by_nobody(entries: Entries) -> None:
    added = next(one for one in entries if one["action"] == "passkey.added")
    given = next(one for one in entries if one["action"] == "consent.given")
    assert given["body"]["about"] in added["subject"]
    entries.remove(given)


def added_by_a_click(entries: Entries) -> None:
    del by_passkey(entries, "consent.given")[0]["body"]["assertion"]


def one_confirmation_after_a_loss(entries: Entries) -> None:
    last = [one for one in entries if one["action"] == "passkey.added"][-1]
    last["body"]["confirmed_by"] = last["body"]["confirmed_by"][:1]


def further_passkey(entries: Entries) -> Json:
    """The second one of Alice, which one person confirmed, as her first signed for it."""
    added = [one for one in entries if one["action"] == "passkey.added" and one["body"]["person"] == ALICE]
    assert len(added) == 2
    return added[1]


def passkey_of_another_booked_on_bob(entries: Entries) -> None:
    """Alice's first passkey signed for her second and Carol confirmed it as hers; then it stands there as Bob's."""
    added = further_passkey(entries)
    added["body"]["person"] = BOB
    assert CAROL in added["body"]["confirmed_by"]


def added_again_by_its_old_confirmation(entries: Entries) -> None:
    added = further_passkey(entries)
    ended = {**added, "action": "passkey.ended", "body": {"person": added["body"]["person"], "why": "lost"}}
    entries[entries.index(added) + 1 : entries.index(added) + 1] = [ended, copied(added)]


def approvals_of_rows(entries: Entries) -> Entries:
    found = [one for one in entries if one["action"] == "request.approval" and "batch" in one["body"]]
    assert found, "no row was approved with its list"
    return found


def row_invented(entries: Entries) -> None:
    """It was submitted by nobody as a part of that list, and approved by nobody."""
    row = copied(approvals_of_rows(entries)[-1])
    row["subject"] = "request:R-2222:2"
    submitted = {**row, "subject": "request:R-2222:1", "action": "request.submitted"}
    at = entries.index(approvals_of_rows(entries)[-1]) + 1
    entries[at:at] = [submitted, row]


def row_never_submitted(entries: Entries) -> None:
    row = approvals_of_rows(entries)[-1]
    entries.insert(entries.index(row) + 1, {**row, "subject": "request:R-2222:2"})


def list_of_rows_approved_by_nobody(entries: Entries) -> None:
    batch = approvals_of_rows(entries)[0]["body"]["batch"]
    (approval,) = (
        one
        for one in by_passkey(entries)
        if one["subject"].startswith(f"request:{batch}:") and one["action"] == "request.approval"
    )
    entries.remove(approval)


def row_approved_by_another(entries: Entries) -> None:
    approvals_of_rows(entries)[0]["body"]["by"] = [CAROL]


def with_other_terms(entries: Entries, *actions: str) -> None:
    """The first request that was approved with a passkey has another fingerprint in these entries."""
    request = by_passkey(entries)[0]["subject"].split(":")[1]
    found = [
        one
        for one in entries
        if one["subject"].startswith(f"request:{request}:") and one["action"] in actions
    ]
    assert {one["action"] for one in found} == set(actions)
    for one in found:
        one["body"]["digest"] = "cd" * 38


def sent_with_other_terms(entries: Entries) -> None:
    with_other_terms(entries, "request.submitted", "request.attempt", "request.outcome")


def only_the_attempt_with_other_terms(entries: Entries) -> None:
    with_other_terms(entries, "request.attempt")


def only_the_outcome_with_other_terms(entries: Entries) -> None:
    with_other_terms(entries, "request.outcome")


def copied(entry: Json) -> Json:
    return dict(json.loads(json.dumps(entry)))


def reset_invented(entries: Entries) -> None:
    """Before the first passkey there is; anywhere else it ends those that sign later."""
    made = next(one for one in entries if one["action"] == "passkey.made")
    reset = {**made, "action": "passkey.reset", "subject": "passkey:all", "actor": "cli:root", "body": {}}
    entries.insert(entries.index(made), reset)


def signed_again_invented(entries: Entries) -> None:
    """By it the request is sent with other terms than the approved ones."""
    first = by_passkey(entries)[0]
    sent_before = first["body"]["digest"]
    with_other_terms(entries, "request.attempt", "request.outcome")
    body = {"kind": "card_topup", "state": "approved", "digest": "cd" * 38, "before": sent_before}
    entries.insert(
        entries.index(first) + 1,
        {**first, "action": "request.signed_again", "actor": "cli:root", "body": body},
    )


@pytest.mark.parametrize(
    ("change", "asks"),
    [
        (reset_invented, "all passkeys were reset, so that the next one was confirmed by a click"),
        (signed_again_invented, "was signed again under another master key"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_what_an_export_cannot_prove_is_named_with_its_entry_to_ask_about(
    changed: Callable[[Callable[[Entries], object]], Path], change: Callable[[Entries], object], asks: str
) -> None:
    numbers: list[int] = []

    def how(entries: Entries) -> None:
        change(entries)
        invented = ("passkey.reset", "request.signed_again")
        numbers.extend(at for at, one in enumerate(entries, start=1) if one["action"] in invented)

    code, said = checked(changed(how))

    (number,) = numbers
    assert code == 0, said
    assert f"Ask about entry {number}, by cli:root: " in said
    assert asks in said


def approval_without_a_version(entries: Entries) -> None:
    """Of another request than the one that its list and its fingerprint say."""
    invented = copied(by_passkey(entries)[0])
    del invented["body"]["assertion"]
    entries.append(invented | {"subject": "request:R-2222"})


def approval_about_something_else(entries: Entries) -> None:
    invented = copied(by_passkey(entries)[0])
    del invented["body"]["assertion"]
    entries.append(invented | {"subject": "requests:R-2222:2"})


def approval_with_an_outcome_of_its_own(entries: Entries) -> None:
    by_passkey(entries)[0]["outcome"] = "OK"


def added_about_something_else(entries: Entries) -> None:
    added = next(one for one in entries if one["action"] == "passkey.added")
    added["subject"] = added["subject"].removeprefix("passkey:")


def sent_without_an_approval(entries: Entries) -> None:
    request = by_passkey(entries)[0]["subject"].split(":")[1]
    entries.remove(by_passkey(entries)[0])
    assert not [e for e in entries if e["action"] == "request.approval" and f":{request}:" in e["subject"]]


def of_request(entries: Entries, request: str, *actions: str) -> Entries:
    return [
        one
        for one in entries
        if one["subject"].startswith(f"request:{request}:") and one["action"] in actions
    ]


def the_one(entries: Entries, action: str, kind: str = "") -> Json:
    (found,) = [
        one for one in entries if one["action"] == action and (not kind or one["body"].get("kind") == kind)
    ]
    return found


def done_without_an_approval_or_an_attempt(entries: Entries) -> None:
    request = by_passkey(entries)[0]["subject"].split(":")[1]
    for one in of_request(entries, request, "request.approval", "request.attempt"):
        entries.remove(one)
    assert of_request(entries, request, "request.outcome")[0]["body"]["state"] == "succeeded"


def resolved_without_an_approval(entries: Entries) -> None:
    request = the_one(entries, "request.resolved_by_hand")["subject"].split(":")[1]
    for one in of_request(entries, request, "request.approval", "request.attempt", "request.outcome"):
        entries.remove(one)


def top_up_done_immediately(entries: Entries) -> None:
    approval = by_passkey(entries)[0]
    approval |= {"action": "request.break_glass", "actor": ALICE}
    del approval["body"]["assertion"]


def top_up_called_a_freeze_once(entries: Entries) -> None:
    top_up_done_immediately(entries)
    the_first = next(one for one in entries if one["action"] == "request.break_glass")
    the_first["body"]["kind"] = "card_freeze"


def done_immediately_by_another(entries: Entries) -> None:
    the_one(entries, "request.break_glass")["actor"] = BOB


def confirmed_by_who_did_it(entries: Entries) -> None:
    confirmed = the_one(entries, "request.confirmed")
    del confirmed["body"]["assertion"]
    confirmed["actor"] = ALICE


def approved_by_its_requester(entries: Entries) -> None:
    del by_passkey(entries)[0]["body"]["assertion"]
    next(one for one in entries if one["action"] == "request.approval")["actor"] = ALICE


def one_approval_of_two(entries: Entries) -> None:
    by_passkey(entries)[0]["body"]["approvals"] = 2


def one_approval_where_two_were_needed(entries: Entries) -> None:
    request = by_passkey(entries)[0]["subject"].split(":")[1]
    of_request(entries, request, "request.submitted")[0]["body"]["approvals_needed"] = 2


def resolved_by_one_alone(entries: Entries) -> None:
    entries.remove(the_one(entries, "request.resolution_proposed"))


def resolved_as_the_other_did_not_say(entries: Entries) -> None:
    proposed = the_one(entries, "request.resolution_proposed")
    del proposed["body"]["assertion"]
    proposed["body"]["verdict"] = "succeeded"


def resumed_without_a_confirmation(entries: Entries) -> None:
    entries.remove(the_one(entries, "consent.given", "resume"))


def resumed_by_who_asked(entries: Entries) -> None:
    given = the_one(entries, "consent.given", "resume")
    del given["body"]["assertion"]
    given["actor"] = the_one(entries, "program.write_resumed")["actor"] = BOB


def stripped(action: str, kind: str = "") -> Callable[[Entries], None]:
    def by_a_click(entries: Entries) -> None:
        del the_one(entries, action, kind)["body"]["assertion"]

    return by_a_click


@pytest.mark.parametrize(
    ("action", "kind", "counted", "listed"),
    [
        ("request.confirmed", "", "1 confirmation(s)", "confirmed by U0BOB, by a click"),
        ("request.resolution_proposed", "", "1 resolution(s)", "said failed by U0ALICE, by a click"),
        ("request.resolved_by_hand", "", "1 resolution(s)", "said failed by U0BOB, by a click"),
        ("consent.given", "resume", "1 consent(s)", "resume of main confirmed by U0CAROL, by a click"),
    ],
)
def test_whatever_was_decided_by_a_click_is_counted_and_listed(
    changed: Callable[[Callable[[Entries], object]], Path], action: str, kind: str, counted: str, listed: str
) -> None:
    code, said = checked(changed(stripped(action, kind)), "--passkeys")

    assert code == 0, said
    assert f"By a click alone: {counted}." in said
    assert listed in said


def test_what_nobody_confirmed_is_named_to_ask_about(
    changed: Callable[[Callable[[Entries], object]], Path],
) -> None:
    def unconfirmed(entries: Entries) -> None:
        entries.remove(the_one(entries, "request.confirmed"))

    code, said = checked(changed(unconfirmed))

    assert code == 0, said
    assert re.search(
        r"Ask about entry \d+, by U0ALICE: R-\w+ was done immediately, and nobody confirmed it", said
    )


def test_an_approval_by_a_click_of_what_was_to_be_signed_is_named_to_ask_about(
    changed: Callable[[Callable[[Entries], object]], Path],
) -> None:
    def by_a_click(entries: Entries) -> None:
        del by_passkey(entries)[0]["body"]["assertion"]

    code, said = checked(changed(by_a_click), "--passkeys")

    assert code == 0, said
    assert "By a click alone: 1 approval(s)." in said
    assert re.search(
        r"Ask about entry \d+, by U0BOB: the policy asked for a passkey when R-\w+ was requested", said
    )


def test_what_may_be_done_immediately_is_what_the_product_lets_do_so() -> None:
    kinds = operations.kinds()
    assert {kind for kind in kinds if kinds[kind].handling.run_now} == set(verify_audit.IMMEDIATE)


def put_back_after_a_loss(entries: Entries) -> None:
    """Only the entry of all of Bob's says that the first one has ended; with it he approves later."""
    (all_ended,) = (one for one in entries if one["action"] == "passkey.all_ended")
    first = by_passkey(entries)[0]
    for one in [one for one in entries if one["action"] == "passkey.ended"]:
        entries.remove(one)
    entries.remove(all_ended)
    entries.insert(entries.index(first), all_ended)


def the_approval_by(entries: Entries, person: str) -> int:
    return next(n for n, one in enumerate(entries) if one in by_passkey(entries) and one["actor"] == person)


def reset_before_an_approval(entries: Entries) -> None:
    added = next(one for one in entries if one["action"] == "passkey.added")
    reset = {**added, "action": "passkey.reset", "subject": "passkey:all", "actor": "cli:root", "body": {}}
    entries.insert(the_approval_by(entries, CAROL), reset)


def added_again_after_all_had_ended(entries: Entries) -> None:
    """By what was confirmed before."""
    added = further_passkey(entries)
    ended = {
        **added,
        "action": "passkey.all_ended",
        "subject": f"passkey:of:{ALICE}",
        "body": {"person": ALICE, "why": "lost"},
    }
    entries[entries.index(added) + 1 : entries.index(added) + 1] = [ended, copied(added)]


def one_confirmation_of_a_key_made_before_a_loss(entries: Entries) -> None:
    """Alice's first passkey signed for the second, and was lost before that one was confirmed."""
    (made,) = (
        one
        for one in entries
        if one["action"] == "passkey.made" and one["subject"] == further_passkey(entries)["subject"]
    )
    signer = made["body"]["assertion"]["passkey"]
    lost = {
        **made,
        "action": "passkey.ended",
        "subject": f"passkey:{signer}",
        "body": {"person": ALICE, "why": "lost"},
    }
    entries.insert(entries.index(made) + 1, lost)


def first_passkey_of_a_stranger(entries: Entries) -> None:
    """The log begins with a passkey that somebody made up; Alice confirmed it by a click, it says."""
    device = Authenticator(SITE.origin)
    device.create({"rp": {"id": SITE.rp_id}, "challenge": "AAAA"})
    made, given, added = (
        copied(next(one for one in entries if one["action"] == action))
        for action in ("passkey.made", "consent.given", "passkey.added")
    )
    (own,) = device.keys
    stranger = base64url(device.cose_of(own))
    key = hashlib.sha256(unbase64url(stranger)).hexdigest()
    for one, more in (
        (made, {"person": CAROL, "key": key}),
        (given, {"about": "K-EVIL", "key": key, "person": CAROL, "asked_by": CAROL}),
        (added, {"person": CAROL, "public_key": stranger, "credential": own, "confirmed_by": [ALICE]}),
    ):
        one["body"] |= more
    made["subject"], added["subject"], given["actor"] = "passkey:K-EVIL", "passkey:K-EVIL", ALICE
    at = next(n for n, one in enumerate(entries) if one["action"] == "passkey.made")
    reset = {**made, "action": "passkey.reset", "subject": "passkey:all", "actor": "cli:root", "body": {}}
    entries[at:at] = [made, given, added, reset]


def test_a_passkey_that_a_click_confirmed_is_named_with_its_fingerprint_to_ask_about(
    whole: Path, changed: Callable[[Callable[[Entries], object]], Path]
) -> None:
    """Nothing in an export proves whose it is: its person reads the same fingerprint out, or doesn't."""
    (first,) = re.findall(
        r"of U0BOB was confirmed by a click.* the fingerprint ([0-9a-f ]+)\?", checked(whole)[1]
    )

    code, said = checked(changed(first_passkey_of_a_stranger))

    assert code == 0, said
    asked = re.findall(r"K-EVIL of (\w+) was confirmed by a click.* the fingerprint ([0-9a-f ]+)\?", said)
    assert [person for person, _ in asked] == [CAROL]
    assert first in said
    assert asked[0][1] != first


def test_what_anchors_alone_prove_is_named_without_them(whole: Path, tmp_path: Path) -> None:
    last = json.loads(whole.read_text().splitlines()[-1])
    anchors = tmp_path / "anchors"
    anchors.write_text(json.dumps({"seq": last["seq"], "hash": last["hash"], "at": "", "mac": ""}) + "\n")

    assert "Not proven, as no anchors were given" in checked(whole)[1]
    assert "Not proven" not in checked(whole, str(anchors))[1]


def test_an_anchor_proves_nothing_of_what_came_after_it(whole: Path, tmp_path: Path) -> None:
    entries = [json.loads(line) for line in whole.read_text().splitlines()]
    anchors = tmp_path / "anchors"
    anchors.write_text(json.dumps({"seq": 3, "hash": entries[2]["hash"], "at": "", "mac": ""}) + "\n")

    assert f"Not proven by the anchors: entries 4 to {len(entries)}" in checked(whole, str(anchors))[1]


@pytest.mark.walk(most=2)
@pytest.mark.parametrize("nothing", [None, "", [], {}, 0, False], ids=repr)
def test_an_assertion_that_is_none_is_no_signature_in_any_decision(
    changed: Callable[[Callable[[Entries], object]], Path], nothing: object
) -> None:
    for action in (
        "request.approval",
        "request.confirmed",
        "request.resolution_proposed",
        "consent.given",
        "passkey.made",
    ):

        def without(entries: Entries, action: str = action) -> None:
            by_passkey(entries, action)[-1]["body"]["assertion"] = nothing

        code, said = checked(changed(without))

        assert (code, "the signature with a passkey cannot be read" in said) == (1, True), f"{action}: {said}"


async def test_two_passkeys_that_are_made_before_either_is_confirmed_export_as_right(tmp_path: Path) -> None:
    """The second takes two others by then: a key that was made in a stolen session gets no easier in."""
    async with a_world(tmp_path) as world:
        world.rebuild(policy=with_passkeys(world.core.policy), passkeys=SITE)
        world.people.groups["@card-approvers"].add(ALICE)
        await world.advance(people.DECIDED_WITHIN_S)
        devices = Devices(world)
        await devices.add(CAROL, ALICE)
        await devices.add(ALICE, CAROL)
        laptop, phone = await devices.make(BOB, "Laptop"), await devices.make(BOB, "Phone")
        await devices.confirm(laptop, CAROL)
        assert "needs one more person" in await devices.confirm(phone, CAROL)
        assert "works from now on" in await devices.confirm(phone, ALICE)
        file = tmp_path / "audit.jsonl"
        async with world.store.read() as tx:
            with file.open("w") as to:
                await audit.export(tx, to.write, "jsonl")

    code, said = checked(file)

    assert code == 0, said


@pytest.mark.by_turns(5)
@pytest.mark.walk
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (approval_without_a_version, "names no version of the request"),
        (approval_about_something_else, "is about no request"),
        (approval_with_an_outcome_of_its_own, "has the outcome OK, which there is not"),
        (added_about_something_else, "is about no passkey"),
        (sent_without_an_approval, "was sent, and nobody had approved it"),
        (done_without_an_approval_or_an_attempt, "is succeeded, and nobody had approved it"),
        (resolved_without_an_approval, "and nobody had approved it"),
        (top_up_done_immediately, "was done immediately, which only a freeze may be"),
        (top_up_called_a_freeze_once, "is of another kind than when it was submitted"),
        (done_immediately_by_another, "was done immediately by another person than its requester"),
        (confirmed_by_who_did_it, "was confirmed by its requester"),
        (approved_by_its_requester, "was approved by its requester"),
        (one_approval_of_two, "has 1 of 2 approvals"),
        (one_approval_where_two_were_needed, "has 1 of 2 approvals"),
        (resolved_by_one_alone, "was resolved by one person alone"),
        (resolved_as_the_other_did_not_say, "was resolved by one person alone"),
        (resumed_without_a_confirmation, "which nobody confirmed"),
        (resumed_by_who_asked, "was confirmed by who requested it"),
        (put_back_after_a_loss, "is by a passkey that did not count then"),
        (reset_before_an_approval, "is by a passkey that did not count then"),
        (added_again_after_all_had_ended, "was not confirmed by 2 other person(s)"),
        (one_confirmation_of_a_key_made_before_a_loss, "was not confirmed by 2 other person(s)"),
        (signature_of_another_approval, "is about something else"),
        (approval_twice, "is about another version"),
        (other_terms, "is over something else"),
        (other_request, "is about something else"),
        (other_version, "is about another version"),
        (other_person, "is about something else"),
        (other_verdict, "is about something else"),
        (other_consent, "is about something else"),
        (consent_twice, "was used before"),
        (no_fingerprint_asked, "was given without a fingerprint, a face or a PIN"),
        (other_page, "was given on another page"),
        (ended_before, "is by a passkey that did not count then"),
        (key_put_in_place, "was not confirmed by 1 other person(s)"),
        (added_by_nobody, "was not confirmed by 1 other person(s)"),
        (added_by_a_click, "was confirmed without a passkey"),
        (one_confirmation_after_a_loss, "was not confirmed by 2 other person(s)"),
        (passkey_of_another_booked_on_bob, "was not confirmed by 1 other person(s)"),
        (added_again_by_its_old_confirmation, "was not confirmed by 2 other person(s)"),
        (row_invented, "is the approval of a row of R-"),
        (row_never_submitted, "R-2222 has another fingerprint than when it was submitted"),
        (list_of_rows_approved_by_nobody, "is the approval of a row of R-"),
        (row_approved_by_another, f"was not approved by {CAROL}"),
        (sent_with_other_terms, "has another fingerprint than when it was submitted"),
        (only_the_attempt_with_other_terms, "has another fingerprint than when it was submitted"),
        (only_the_outcome_with_other_terms, "has another fingerprint than when it was submitted"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
@pytest.mark.parametrize("with_packages", [True, False], ids=["with cryptography", "without it"])
def test_what_its_passkey_did_not_sign_is_no_decision(
    changed: Callable[[Callable[[Entries], object]], Path],
    change: Callable[[Entries], object],
    says: str,
    with_packages: bool,
) -> None:
    code, said = checked(changed(change), with_packages=with_packages)

    assert (code, says in said) == (1, True), said


def test_a_signature_by_another_key_is_found_with_cryptography_alone(
    changed: Callable[[Callable[[Entries], object]], Path],
) -> None:
    forged = changed(signed_by_another)

    code, said = checked(forged)

    assert (code, "is wrong: it is not by this passkey" in said) == (1, True), said
    assert checked(forged, with_packages=False)[0] == 0


async def test_keys_of_every_kind_that_devices_may_use_are_read() -> None:
    import cbor2
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.hashes import SHA256

    from verify_audit import with_cryptography

    check = with_cryptography()
    assert check is not None
    edwards, numbers = ed25519.Ed25519PrivateKey.generate(), rsa.generate_private_key(65537, 2048)
    curve = ec.generate_private_key(ec.SECP256R1())
    point, public = curve.public_key().public_numbers(), numbers.public_key().public_numbers()
    signatures = [
        (
            {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)},
            curve.sign(b"data", ec.ECDSA(SHA256())),
        ),
        ({1: 1, 3: -8, -1: 6, -2: edwards.public_key().public_bytes_raw()}, edwards.sign(b"data")),
        (
            {1: 3, 3: -257, -1: public.n.to_bytes(256), -2: public.e.to_bytes(3)},
            numbers.sign(b"data", padding.PKCS1v15(), SHA256()),
        ),
    ]

    for cose, signature in signatures:
        check(cbor2.dumps(cose), signature, b"data")
        with pytest.raises(ValueError, match="not by this passkey"):
            check(cbor2.dumps(cose), signature, b"date")


async def test_after_a_reset_one_person_confirms_each_next_passkey(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    async with a_world(tmp_path) as world:
        await _reset(world, monkeypatch)
        async with world.store.read() as tx:
            with file.open("w") as to:
                await audit.export(tx, to.write, "jsonl")

    code, said = checked(file)

    assert (code, "Passkeys: " in said) == (0, True), said


async def _reset(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def same_store(*, beside_the_bot: bool) -> AsyncIterator[Store]:
        yield world.store

    devices = await everybody_has_one(world)
    monkeypatch.setattr(environment, "open_store", same_store)
    monkeypatch.setattr(environment, "anchor_places", lambda _store: world.core.anchors)
    await keys._reset_passkeys()
    await devices.add(BOB, CAROL)
    await devices.add(CAROL, BOB)
    await devices.approve(await world.top_up("50", approved=False))
