"""Adding a passkey, naming it, ending it, and who has which.

The device makes its key first; then others confirm exactly that key, by its check code, and from then on it counts.
One other person confirms a first passkey, or a further one that an active passkey of the same person signed for. After
a loss two others do. They confirm with passkeys of their own, but for the very first passkey here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bot.domain.alerts import passkey_alerts
from bot.domain.errors import InvalidInput, NotAllowed, NotFound, Stale
from bot.domain.ids import short_code
from bot.domain.passkeys import (
    CONFIRMED_WITHIN,
    NO_ADDRESS,
    NO_TWO_OTHERS,
    Purpose,
    key_digest,
    read_out,
    unbase64url,
)
from bot.domain.people import Actor
from bot.partner.secret import Secret
from bot.services import alerts, audit, audit_anchors, people
from bot.services.core import Core
from bot.services.operators import confirmations
from bot.services.passkeys import ceremonies, links, proofs, readiness
from bot.services.people import Role
from bot.view_models import PasskeysView, PasskeyView
from storage.errors import ChangedOutside, NotReadYet
from storage.operators import Key, Passkey, PasskeyLink, passkeys, passkeys_on_record
from storage.operators import people as people_rows
from storage.requests import Consent
from storage.requests import confirmations as consents
from storage.transaction import Tx
from storage.vault import length_prefixed

LONGEST_NAME = 40
_DEFAULT_NAME = "Passkey"
_ENOUGH = 10
REPORTED = "reported lost"
"""Why passkeys ended that one approver reported lost and another confirmed as lost."""


async def begin(core: Core, slack_id: str, name: str) -> Secret:
    """The link to the page where this person's device makes a passkey. Raises NotAllowed, InvalidInput."""
    await people.require_member(core, slack_id, action="passkey.add")
    if not core.passkeys.base_url:
        raise NotAllowed(NO_ADDRESS, "no_public_address")
    await audit_anchors.require_places(core)
    await readiness.ready(core)
    name = _name(name or _DEFAULT_NAME)
    passkey_id = "K" + core.ids.request_id(6)[1:]
    async with core.store.begin() as tx:
        await _require_few(tx, slack_id)
        return await links.make(
            tx, core, Purpose.ADD, slack_id, subject=passkey_id, digest="", terms={"name": name}
        )


async def _require_few(tx: Tx, slack_id: str) -> None:
    """Those that ended within a day count, too: nobody makes one after the other until its check code fits.

    Not those that two others ended: so a person goes on in whose name a stolen session made too many.
    """
    since = tx.now - CONFIRMED_WITHIN
    found = [
        one
        for one in await passkeys.of_person(tx, slack_id)
        if one.state != "ended" or (one.created_at > since and one.ended_why != REPORTED)
    ]
    if len(found) >= _ENOUGH:
        raise NotAllowed(
            f"You have {_ENOUGH} passkeys already, with those made and removed in the last 24 hours. Remove an older"
            " one with /countersign passkey, or try again tomorrow. If you did not make them, somebody may have your"
            " Slack session: ask two approvers to report and confirm your passkeys as lost. Then you can add one.",
            "too_many",
        )


def check_code(tx: Tx, passkey_id: str, public_key: str) -> str:
    """What two people compare, such as `K7F-2QX`. By the master key: nobody can look for a key with a given code."""
    return short_code(
        tx.vault.mac("passkey_code", length_prefixed(passkey_id.encode(), unbase64url(public_key)))
    )


def _name(text: str) -> str:
    text = " ".join(text.split())
    if not text or len(text) > LONGEST_NAME or not text.isprintable():
        raise InvalidInput("name", f"A passkey's name has 1 to {LONGEST_NAME} letters, such as MacBook.")
    return text


async def options(tx: Tx, core: Core, link: PasskeyLink, person: str) -> dict[str, Any]:
    """What the page needs: the new key's options, and those of the signature by one that counts already."""
    mine = [one.key.credential_id for one in await proofs.usable(tx, core, link.slack_id) if one.key]
    challenge = proofs.bound_of(link).challenge()
    found = {
        "create": ceremonies.creation_options(
            core.passkeys, challenge, person=link.slack_id, name=person, known=mine
        )
    }
    return {**found, "get": ceremonies.assertion_options(core.passkeys, challenge, mine)} if mine else found


async def finish(core: Core, link: PasskeyLink, answer: Mapping[str, Any], proof: proofs.Proof | None) -> str:
    """Keep the key that the device made, and ask others to confirm it. Raises NotAllowed, Stale.

    `answer` is of the device; `proof` a signature by a passkey that they have already, None where they have none.
    """
    made = ceremonies.new_key(core.passkeys, proofs.bound_of(link).challenge(), answer)
    actor = await people.member(core, link.slack_id)
    name = _name(str(link.terms.get("name") or _DEFAULT_NAME))
    await audit_anchors.require_kept(core)
    known = await proofs.outside(core)
    async with core.store.begin() as tx:
        await _require_few(tx, actor.id)
        signed = {}
        if proof is not None:
            assertion = await proofs.check(
                tx, core, proof, Purpose.ADD, subject=link.subject, person=actor.id, digest=link.digest
            )
            signed = {"assertion": assertion.as_json()}
        key = Key(
            actor.id, made.credential_id, made.public_key, core.passkeys.rp_id, "waiting", made.sign_count
        )
        if not await passkeys.add(tx, link.subject, name, key):
            raise Stale("This device has a passkey here already. Nothing was changed.")
        code = check_code(tx, link.subject, made.public_key)
        body = {"person": actor.id, "name": name, "key": key_digest(made.public_key), "code": code}
        await audit.record(tx, core, actor.id, "passkey.made", f"passkey:{link.subject}", {**body, **signed})
        confirmed_by = await proofs.confirmers_needed(tx, actor.id, link.subject, known)
        others = _others(confirmed_by, await _others_first(tx, link.subject, actor.id))
        await _ask(tx, core, actor, link.subject, {**body, "needed": str(confirmed_by), "first": ""})
    return (
        f"Your device made the passkey “{name}”. It works as soon as {others} it in Slack. Tell them its check"
        f" code, in person or by phone: {code}. They see the same code in the alerts channel."
        + (f" {NO_TWO_OTHERS}" if confirmed_by == 2 else "")
    )


async def _others_first(tx: Tx, passkey_id: str, person: str) -> bool:
    """Would this one take two others, if another new one of theirs is confirmed before it?"""
    made = (await passkeys_on_record.of(tx)).made
    return not made[passkey_id].signed_by and any(
        one.person == person for name, one in made.items() if name != passkey_id
    )


def _others(confirmed_by: int, has_others: bool) -> str:
    if confirmed_by == 2:
        return "two other approvers confirm"
    more = ", or two of them, if they confirm another new one of yours before," if has_others else ""
    return f"another approver{more} confirms" if not more else f"another approver{more} confirm"


async def _ask(tx: Tx, core: Core, actor: Actor, passkey_id: str, terms: Mapping[str, str]) -> None:
    """The message in the alerts channel with Confirm and Decline."""
    await confirmations.ask(tx, core, ADD, actor, subject=passkey_id, terms=terms)


async def _facts(_tx: Tx, consent: Consent) -> dict[str, str]:
    terms = {name: str(value) for name, value in consent.terms.items()}
    which = {
        "1": "One other person confirms this.",
        "2": f"Two other people confirm this, as an earlier passkey is gone. {NO_TWO_OTHERS}",
    }[terms["needed"]]
    if terms["first"]:
        which = (
            "One person confirmed this. A second one has to confirm it, too, as an earlier passkey is gone."
            f" {NO_TWO_OTHERS}"
        )
    return {"name": terms["name"], "code": terms["code"], "which": which}


def _first(consent: Consent) -> tuple[str, ...]:
    """Who confirmed it already, where two have to."""
    return tuple(filter(None, [str(consent.terms["first"])]))


async def _added(tx: Tx, core: Core, consent: Consent, actor: Actor) -> str:
    """Another person confirmed a new passkey: it counts, or waits for the second one."""
    terms = {name: str(value) for name, value in consent.terms.items()}
    found = await passkeys.get(tx, consent.subject)
    if found is None or found.state != "waiting" or found.key is None:
        raise Stale("This passkey is no longer waiting. Nothing was changed.")
    if key_digest(found.key.public_key) != terms["key"]:
        raise NotAllowed("What is stored isn't the key that was shown. Nothing was changed.", "passkey_other")
    name = f"{consent.asked_by_name}'s passkey “{found.name}”"
    # As it is now: since it was made, they may have got another one, or lost the one that signed for it.
    on_record = await passkeys_on_record.of(tx)
    if consent.subject not in on_record.made:
        raise Stale("This passkey is no longer waiting. Nothing was changed.")
    needed = max(
        int(terms["needed"]), passkeys_on_record.confirmers_needed(on_record, found.id, found.slack_id)
    )
    if needed == 2 and not terms["first"]:
        asker = Actor(consent.asked_by, consent.asked_by_name)
        await _ask(tx, core, asker, consent.subject, {**terms, "needed": "2", "first": actor.id})
        return f"{name} needs one more person, who confirms it in the next message."
    if not await passkeys.activate(tx, found):
        raise Stale("This passkey changed meanwhile. Nothing was changed.")
    body = {
        "person": found.slack_id,
        "credential": found.key.credential_id,
        "public_key": found.key.public_key,
        "rp_id": found.key.rp_id,
        "confirmed_by": [one for one in (terms["first"], actor.id) if one],
    }
    await audit.record(tx, core, actor.id, passkeys_on_record.ADDED, f"passkey:{found.id}", body)
    return f"{name} works from now on."


async def rename(core: Core, slack_id: str, passkey_id: str, name: str) -> str:
    """Raises NotFound for all but one's own, InvalidInput."""
    await people.require_member(core, slack_id, action="passkey.name")
    name = _name(name)
    async with core.store.begin() as tx:
        found = await _own(tx, slack_id, passkey_id)
        if not await passkeys.rename(tx, found.id, name):
            raise Stale("This passkey changed meanwhile. Nothing was changed.")
        await audit.record(tx, core, slack_id, "passkey.named", f"passkey:{found.id}", {"name": name})
    return f"{found.id} is called “{name}” now."


async def revoke(core: Core, slack_id: str, passkey_id: str) -> str:
    """End one of one's own, at once. Raises NotFound."""
    actor = await people.require_member(core, slack_id, action="passkey.revoke")
    async with core.store.begin() as tx:
        found = await _own(tx, slack_id, passkey_id)
        await end(tx, core, found, by=actor.id, why="removed")
        await _tell(tx, core, found, actor.name, "removed")
    await audit_anchors.drop_after_a_stop(core)
    return (
        f"{found.id} (“{found.name}”) no longer works. To add another, use /countersign passkey add: if you have no"
        " other passkey, two people have to confirm it."
    )


async def lost(core: Core, slack_id: str, person: str) -> str:
    """End all passkeys of a person: one's own at once, another's once a second approver confirms it.

    Raises NotAllowed, NotFound.
    """
    refusal = NotAllowed(
        "Only approvers and admins may report another person's passkey as lost.", "not_an_approver"
    )
    if person == slack_id:
        actor = await people.require_member(core, slack_id, action="passkey.lost")
        async with core.store.begin() as tx:
            await _require_one(tx, slack_id)
            count = await _end_all(tx, core, slack_id, by=actor)
        await audit_anchors.drop_after_a_stop(core)
        return f"{_no_longer(count, 'yours')} {_HOW_AGAIN}"
    actor = await people.require_role(core, slack_id, Role.APPROVER_OR_ADMIN, refusal, action="passkey.lost")
    await confirmations.expire_due(core)
    async with core.store.begin() as tx:
        since = tx.now - CONFIRMED_WITHIN
        known = await passkeys.of_person(tx, person)
        if not any(one.state != "ended" or one.created_at > since for one in known):
            raise NotFound("This person has no passkey. Nothing was changed.")
        seen = await people_rows.get(tx, person)
        name = seen.actor.name if seen else person
        terms = {"person": person, "name": name}
        consent = await confirmations.ask(tx, core, LOST, actor, subject=person, terms=terms)
    if consent is None:
        return (
            f"The passkeys of {name} were reported lost already. Another approver or admin has to confirm it."
        )
    return "Reported. Another approver or admin has to confirm it in the alerts channel before they stop working."


async def _require_one(tx: Tx, slack_id: str) -> None:
    """Raises NotFound for who has none that could be lost: neither a row, nor on record, where somebody hid the row."""
    if any(one.state != "ended" for one in await passkeys.of_person(tx, slack_id)):
        return
    try:
        found = await passkeys_on_record.of(tx)
    except (ChangedOutside, NotReadYet):
        return
    people_with_one = {one.person for one in found.counting.values()} | {
        one.person for one in found.made.values()
    }
    if slack_id not in people_with_one:
        raise NotFound("You have no passkey that works or waits. Nothing was changed.")


_HOW_AGAIN = (
    "To add another, use /countersign passkey add: two other people have to confirm it, each with a passkey."
    f" {NO_TWO_OTHERS}"
)


def _no_longer(count: int, whose: str) -> str:
    return (
        f"1 passkey of {whose} no longer works."
        if count == 1
        else f"{count} passkeys of {whose} no longer work."
    )


async def _facts_of_loss(_tx: Tx, consent: Consent) -> dict[str, str]:
    return {name: str(consent.terms[name]) for name in ("name", "person")}


async def _ended_as_lost(tx: Tx, core: Core, consent: Consent, actor: Actor) -> str:
    person, name = str(consent.terms["person"]), str(consent.terms["name"])
    if actor.id == person:
        raise NotAllowed("These are your passkeys: somebody else has to confirm it.", "own_passkeys")
    count = await _end_all(tx, core, person, by=actor, why=REPORTED)
    return f"{_no_longer(count, name)} {name} can add another; two people confirm it."


async def _end_all(tx: Tx, core: Core, person: str, *, by: Actor, why: str = "lost") -> int:
    found = [one for one in await passkeys.of_person(tx, person) if one.state != "ended"]
    for one in found:
        await end(tx, core, one, by=by.id, why=why)
    if why == REPORTED:
        await passkeys.reword_ends(tx, person, why)
    # Those too whose rows somebody has hidden meanwhile.
    body = {"person": person, "why": "lost"}
    subject = passkeys_on_record.subject_of_all(person)
    await audit.record(tx, core, by.id, passkeys_on_record.ALL_ENDED, subject, body)
    if found:
        await _tell(tx, core, found[0], by.name, "lost_own" if by.id == person else "lost")
    return len(found)


async def end(tx: Tx, core: Core, found: Passkey, *, by: str, why: str) -> None:
    """From now on it counts no more: removed, lost or copied."""
    if not await passkeys.end(tx, found, why):
        raise ChangedOutside(passkeys.NOT_ENDED.format(id=found.id))
    await confirmations.withdraw(tx, core, ADD.kind, found.id, "The passkey was removed meanwhile.")
    body = {"person": found.slack_id, "why": why}
    await audit.record(tx, core, by, passkeys_on_record.ENDED, f"passkey:{found.id}", body)


async def end_copied(core: Core, passkey_id: str) -> None:
    """A passkey that may exist twice counts no more, and everybody reads that."""
    async with core.store.begin() as tx:
        found = await passkeys.get(tx, passkey_id)
        if found is None or found.state == "ended":
            return
        await end(tx, core, found, by="system:passkeys", why="copied")
        await _tell(tx, core, found, "", "copied")
    await audit_anchors.drop_after_a_stop(core)


async def _tell(tx: Tx, core: Core, found: Passkey, who: str, what: str) -> None:
    seen = await people_rows.get(tx, found.slack_id)
    owner = seen.actor.name if seen else found.slack_id
    said = passkey_alerts.PASSKEY.says(what, owner=owner, name=found.name, who=who)
    condition = passkey_alerts.PASSKEY.condition(found.id, what)
    await alerts.tell(tx, core, said, condition=condition, subject=found.id, program="")


async def _own(tx: Tx, slack_id: str, passkey_id: str) -> Passkey:
    found = await passkeys.get(tx, passkey_id.strip().upper())
    if found is None or found.slack_id != slack_id or found.state == "ended":
        raise NotFound(f"You have no passkey {passkey_id[:20]}. /countersign passkey lists yours.")
    return found


async def listed(core: Core, slack_id: str) -> PasskeysView:
    """One's own passkeys; for approvers and admins also how many others have."""
    await people.require_member(core, slack_id, action="lookup")
    roles = await people.roles_lately(core)
    await readiness.ready(core)
    fault = await audit_anchors.why_not_kept(core)
    async with core.store.read() as tx:
        everybodys = await passkeys.everybodys(tx)
        counting = {one.id for one in await proofs.counting(tx, everybodys)}
        mine = tuple([await _view(one, tx, counting) for one in everybodys if one.slack_id == slack_id])
        others: dict[str, int] = dict.fromkeys(roles.standing.approvers - {slack_id}, 0)
        for one in everybodys:
            if one.slack_id != slack_id and one.id in counting:
                others[one.slack_id] = others.get(one.slack_id, 0) + 1
    may_see = slack_id in roles.of(Role.APPROVER_OR_ADMIN)
    return PasskeysView(
        mine,
        tuple(sorted(others.items())) if may_see else (),
        is_set_up=bool(core.passkeys.base_url),
        is_needed=core.policy.uses_passkeys,
        fault=fault,
    )


async def _view(one: Passkey, tx: Tx, counting: Collection[str]) -> PasskeyView:
    late = one.state == "waiting" and one.created_at + CONFIRMED_WITHIN <= tx.now
    code = check_code(tx, one.id, one.key.public_key) if one.key and one.state == "waiting" else ""
    is_ours = one.key is not None and (one.state == "waiting" or one.id in counting)
    state = ("expired" if late else one.state) if is_ours else "changed"
    if state == "waiting":
        state = await _waits_for(tx, one)
    shown = read_out(one.key.public_key) if one.key and one.id in counting else ""
    return PasskeyView(one.id, one.name, state, one.created_at, one.used_at, code, shown)


async def _waits_for(tx: Tx, one: Passkey) -> str:
    """Whether one other person is to confirm it, two, or the second one of two."""
    try:
        asked = await consents.open_one(tx, ADD.kind, one.id)
    except ChangedOutside:
        return "waiting"
    if asked is None or str(asked.terms["needed"]) == "1":
        return "waiting"
    return "waiting_for_second" if asked.terms["first"] else "waiting_for_two"


def _not_allowed(core: Core) -> str:
    named = dict.fromkeys([*core.policy.people.approvers, *core.policy.people.admins])
    return f"Only {', '.join(named)} may confirm this. Nothing was changed."


ADD = confirmations.Act(
    "passkey_add",
    CONFIRMED_WITHIN,
    None,
    Role.APPROVER_OR_ADMIN,
    _added,
    _not_allowed,
    _facts,
    about_passkeys=True,
    needs_anchors=True,
    confirmed_before=_first,
)
LOST = confirmations.Act(
    "passkey_lost",
    CONFIRMED_WITHIN,
    Role.APPROVER_OR_ADMIN,
    Role.APPROVER_OR_ADMIN,
    _ended_as_lost,
    _not_allowed,
    _facts_of_loss,
    about_passkeys=True,
)
