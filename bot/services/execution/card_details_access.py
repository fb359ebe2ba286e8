"""What happens when a link to card details is used: once, for a person who may still see them.

    look     whose link it is; the approval is genuine and its passkey still counts, the person still a member
    spend    unless sending is paused: one UPDATE and its audit entry, committed before the card provider is asked
    ask      GET pan or POST pan-token, never twice: each call mints another address
    record   opened, by whom and when; then the address goes to the browser and nowhere else

A crash after `spend` leaves a used link that showed nothing, and the requester may have another. The
address is in memory for one answer; no line here writes it anywhere.
"""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from bot.domain.card_details import PAGE_GOOD_FOR_S, Manner, digest_of, origin_of
from bot.domain.errors import CountersignError, LookupFailed, NotAllowed, TooMuch
from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import Conditions, DecisionKind, Request
from bot.domain.sentences import with_stop
from bot.operations import odd_status
from bot.outcomes import effects
from bot.partner.errors import PartnerError
from bot.partner.loopback import is_loopback
from bot.partner.secret import Secret
from bot.services import audit, outbox_messages, people
from bot.services.audit import audited_refusal
from bot.services.cards import details_link
from bot.services.core import Core
from bot.services.execution import effect_writer, presend_checks
from bot.services.operators import programs
from bot.services.passkeys import readiness
from bot.services.requests import approved_by, given, has_its_digest
from storage.cards import cards
from storage.requests import Reveal, card_details_links, decisions, requests

log = logging.getLogger("countersign.reveal")

_ACTION = "card_details.open"
_UNKNOWN = (
    "This link is not valid: part of it is missing, or a newer link took its place. Open the newest message of"
    " Countersign, or press New link there."
)
_USED = (
    "This link was used already, and each works once. Press New link in the message of Countersign. If it was not you"
    " who used it, tell an admin and freeze the card."
)
_EXPIRED = "This link has expired: it works for two minutes. Press New link in the message of Countersign."
_OPENED = (
    "This link was used already, and the details were shown. To see them again, make a new request with /card reveal."
    " If it was not you who saw them, tell an admin and freeze the card."
)
_OVER = "The approval behind this link has expired. Make a new request with /card reveal."
_UNPROVEN = (
    "The details are not shown: the passkey with which this was approved no longer counts, or the policy asks for one"
    " since. Make a new request with /card reveal."
)
_TAMPERED = "What is stored is not what was approved, so nothing is shown. Tell an admin."


class NotShown(CountersignError):
    """No details; the text is for the person. `status`: 410 = this link works no more, 502 = it was used up and
    the card provider gave nothing, 503 = it was not used and may be tried again, 429 = as 503, in a minute."""

    def __init__(self, sentence: str, reason: str, *, status: int = 410) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.status = status


@dataclass(frozen=True, slots=True)
class Shown:
    """For the browser alone. `url`: of the page to embed, or of the one exchange; `note` is empty for most cards."""

    manner: Manner
    url: Secret = field(repr=False)
    expires_in_s: int
    note: str


async def open_link(core: Core, token: Secret, manner: Manner) -> Shown:
    """Use the link up, and get what the browser needs. Raises NotShown."""
    digest = digest_of(token)
    request = await _request_behind(core, digest)
    await _require_allowed(core, request)
    request = await _spend(core, request, digest, manner)
    url, expires_in_s = await _ask(core, request, manner)
    about_the_card = await _record(core, request, digest, manner)
    return Shown(manner, url, expires_in_s, about_the_card)


async def _request_behind(core: Core, digest: str) -> Request:
    async with core.store.read() as tx:
        found = await card_details_links.of_token(tx, digest)
        request = await requests.get(tx, found.request_id) if found else None
        now = tx.now
    if found is None or request is None:
        raise NotShown(_UNKNOWN, "unknown")
    refusal = _dead(found) or (
        NotShown(_EXPIRED, "expired") if found.expires_at is None or found.expires_at <= now else None
    )
    if refusal:
        async with _refusal(core, request):
            raise refusal
    return request


def _refusal(core: Core, request: Request) -> AbstractAsyncContextManager[None]:
    """On record as the requester's, whose link it was."""
    return audited_refusal(core, request.requester, _ACTION, request.id)


def _dead(found: Reveal) -> NotShown | None:
    if found.state == "opened":
        return NotShown(_OPENED, "opened")
    if found.spent_at is not None:
        return NotShown(_USED, "used")
    return NotShown(_OVER, "lapsed") if found.state == "over" else None


async def _require_allowed(core: Core, request: Request) -> None:
    """Asked again at the click. What cannot be found out now leaves the link as it is."""
    await readiness.read_log(core)
    async with core.store.read() as tx:
        # It may have been signed again since, under another master key.
        request = await requests.get(tx, request.id) or request
        genuine = has_its_digest(tx.vault, request)
        made = await decisions.of(tx, request.id)
        approvers = approved_by(tx.vault, request, made)
        words = given(tx.vault, request, made, DecisionKind.APPROVE)
        last_word, asked = max((d.decided_at for d in words), default=None), Conditions.of(words)
        unproven = await presend_checks.why_not_proven(tx, core, request, asked.needed)
        now = tx.now
    if last_word is not None and now > last_word + asked.waits + APPROVAL_VALID_FOR:
        async with _refusal(core, request):
            await _end(core, request, "lapsed", _OVER)
            raise NotShown(_OVER, "lapsed")
    few = len(approvers) < max(request.approvals_needed, asked.needed)
    if not genuine or few or (unproven is not None and unproven.alarm):
        async with _refusal(core, request):
            await _end(core, request, "tampered", _TAMPERED)
            raise NotShown(_TAMPERED, "tampered")
    if unproven is not None:
        async with _refusal(core, request):
            await _end(core, request, "passkey_gone", _UNPROVEN)
            raise NotShown(_UNPROVEN, "passkey_gone")
    try:
        await people.member(core, request.requester)
    except LookupFailed as error:
        text = "Slack cannot say now whether you are still a member. The link was not used: try again in ten seconds."
        raise NotShown(text, error.reason, status=503) from error
    except TooMuch as error:
        raise NotShown(f"{error} The link was not used.", error.reason, status=429) from error
    except NotAllowed as refusal:
        text = "The details are not shown: who requested them is no longer a full member of the workspace."
        async with _refusal(core, request):
            await _end(core, request, refusal.reason, text)
            raise NotShown(text, refusal.reason) from refusal


async def _end(core: Core, request: Request, reason: str, text: str) -> None:
    """No link of this request works any more, for a reason that stays."""
    async with core.store.begin() as tx:
        if await card_details_links.end(tx, request.id) is not None:
            current = await requests.get(tx, request.id) or request
            await details_link.say(tx, core, current, text)
            if reason == "tampered":
                await effect_writer.write(tx, core, current, effects.of_tampering(current))


async def _spend(core: Core, request: Request, digest: str, manner: Manner) -> Request:
    async with core.store.begin() as tx:
        paused = await programs.why_paused(tx, request.program)
        spent = None if paused else await card_details_links.spend(tx, digest)
        if spent is not None:
            request = await requests.get(tx, request.id) or request
            facts = {"card": request.subject, "as": manner.value}
            await audit.of_request(tx, core, request, request.requester, "card_details.link_used", facts)
    if paused:
        text = f"{with_stop(paused)} The link was not used: try again when sending resumes."
        raise NotShown(text, "paused", status=503)
    if spent is None:  # somebody was quicker, or it expired since it was read
        async with _refusal(core, request):
            raise NotShown(_USED, "used")
    return request


async def _ask(core: Core, request: Request, manner: Manner) -> tuple[Secret, int]:
    """The address the card provider gives, and for how many seconds it is good."""
    partner = core.partners[request.program]
    try:
        if manner is Manner.FRAME:
            url, seconds = (await partner.details(request.subject)).details_url, PAGE_GOOD_FOR_S
        else:
            token = await partner.mint_pan_token(request.subject)
            url, seconds = token.url, int(token.expires_in)
    except PartnerError as error:
        await programs.key_refused(core, request.program, error)
        operation = core.kinds[request.kind].of_stored(request.terms, request.subject_label)
        cause = operation.judge(error, outcome_unknown=False).cause
        raise await _nothing_shown(core, request, cause, error.code or "no_answer") from error
    origin = origin_of(url.reveal(), is_loopback)
    if not core.reveals.may_show(origin):
        shown = origin or "an address that is not https"
        log.warning("reveal.other_host", extra={"request": request.id, "origin": shown})
        cause = (
            f"Your card provider gave a page at {shown}, which may not be shown here. An admin adds its host to"
            " `details.hosts` in countersign.toml if it is your card provider's."
        )
        raise await _nothing_shown(core, request, cause, "other_host")
    return url, seconds


async def _nothing_shown(core: Core, request: Request, cause: str, reason: str) -> NotShown:
    """The link is used up and nobody saw anything: said on the request, and to the person."""
    async with core.store.begin() as tx:
        found = await card_details_links.mark_sent(tx, request.id)  # it reached somebody, as it was used
        current = await requests.get(tx, request.id)
        if found is not None and current is not None:
            text = f"The link was used at {details_link.clock(tx.now)} and nothing was shown. {cause}"
            again = details_link.or_again(current, found.valid_until)
            said = await details_link.say(tx, core, current, f"{text} {again}")
            await audit.of_request(
                tx, core, said, "system:reveal", "card_details.not_shown", {"reason": reason}
            )
    sentence = f"{cause} The details were not shown, and this link is used up: press New link in the message."
    return NotShown(sentence, reason, status=502)


async def _record(core: Core, request: Request, digest: str, manner: Manner) -> str:
    """Opened, before the browser gets the address; what to know about the card's status."""
    async with core.store.begin() as tx:
        opened = await card_details_links.mark_opened(tx, digest)
        current = await requests.get(tx, request.id)
        if opened is None or current is None:
            raise NotShown(_UNKNOWN, "replaced")
        how = "" if manner is Manner.FRAME else " as text"
        text = f"{current.requester_name} opened the card details{how} at {details_link.clock(tx.now)}."
        said = await details_link.say(tx, core, current, text)
        facts = {"card": request.subject, "as": manner.value, "links": opened.links}
        await audit.of_request(tx, core, said, request.requester, "card_details.opened", facts)
        await outbox_messages.line(tx, core, said, "opened", actor=request.requester, text="")
        card = await cards.get(tx, request.subject)
    return odd_status(card.status if card else None)
