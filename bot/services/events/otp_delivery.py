"""3-D Secure challenges: the one-time code to the person mapped to the card's `partner_ref`, and to nobody else.

The code goes from memory straight into a direct message. The alert of a challenge never has it; it says
where it went, or why nobody got it and what to do.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.alerts import Said, otp_alerts
from bot.domain.money import format_usd
from bot.domain.time import was_before
from bot.partner.models import ThreeDsChallenge
from bot.partner.secret import Secret
from bot.services import alerts, audit
from bot.services.core import Core
from bot.services.messages import MessageGone, Publisher, SlackRefused, SlackTrouble
from bot.services.otp_store import GOOD_FOR, Outgoing
from bot.together import Together
from bot.view_models import CodeView
from storage.cards import cards, otp_recipients
from storage.faults import is_out_of_use
from storage.messages import alerts as alert_rows
from storage.transaction import Tx

log = logging.getLogger("countersign.threeds")

_TRY_AGAIN_S = 2.0
# Whoever sends one gives up when it is no longer good, and says so; who has said nothing by then is gone.
_KNOWN_AFTER = GOOD_FOR + timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _Challenge:
    """What may be said of it anywhere."""

    event_id: str
    label: str
    partner_ref: str | None
    where: str
    good_until: datetime
    code: Secret | None = field(repr=False)


async def on_challenge(tx: Tx, core: Core, event: ThreeDsChallenge, program: str) -> None:
    """Hand the code to the sender once this is committed, or say why nobody gets it."""
    challenge = await _read(tx, event)
    reference = challenge.partner_ref
    person = await _person_of(tx, core, reference) if reference else None
    if tx.now >= challenge.good_until or challenge.code is None:
        said = otp_alerts.THREE_DS.says("expired", card=challenge.label, purchase=challenge.where)
        await _nobody_gets_it(tx, core, program, challenge, said)
    elif person is None or reference is None:
        said = otp_alerts.nobody_named(challenge.label, challenge.where, reference)
        await _nobody_gets_it(tx, core, program, challenge, said)
    else:
        said = otp_alerts.THREE_DS.says("sending", card=challenge.label, purchase=challenge.where)
        condition = otp_alerts.THREE_DS.condition(challenge.event_id)
        await alerts.keep(tx, core, said, condition=condition, subject=challenge.event_id, program=program)
        going = Outgoing(
            event.id,
            program,
            person,
            reference,
            challenge.code,
            challenge.label,
            challenge.where,
            challenge.good_until,
        )
        tx.after_commit(lambda: core.codes.outgoing.put_nowait(going))


async def _person_of(tx: Tx, core: Core, partner_ref: str) -> str | None:
    """Who gets the codes of a reference now; nobody where somebody ended that, though it is not recorded yet."""
    if core.held.holds(f"code:{partner_ref}"):
        return None
    return await otp_recipients.person_of(tx, partner_ref)


async def _read(tx: Tx, event: ThreeDsChallenge) -> _Challenge:
    data = event.data
    entry = await cards.get(tx, data.card_id) if data.card_id else None
    # A date at the end of time is nobody's, and adding to it would be an error.
    good_until = min(event.created_at, tx.now + GOOD_FOR) + GOOD_FOR
    amount = "A purchase" if data.amount_usd is None else f"A purchase of {format_usd(data.amount_usd)}"
    return _Challenge(
        event_id=event.id,
        label=entry.label if entry else "a card",
        # Of our own copy only where it is as the API gave it: whoever can write to it would get the code.
        partner_ref=data.partner_ref or (await cards.signed_reference(tx, entry.id) if entry else None),
        where=f"{amount} at {data.merchant or 'an unnamed merchant'}",
        good_until=min(good_until, data.expires_at) if data.expires_at else good_until,
        code=event.code,
    )


async def _nobody_gets_it(tx: Tx, core: Core, program: str, challenge: _Challenge, said: Said) -> None:
    """Reported as a fact: nothing is left to wait for."""
    condition = otp_alerts.THREE_DS.condition(challenge.event_id)
    await alerts.tell(tx, core, said, condition=condition, subject=challenge.event_id, program=program)


class Sender:
    """Sends codes as long as they are good, side by side, so that nobody waits for another. One in a process."""

    def __init__(self, core: Core, publisher: Publisher) -> None:
        self._core = core
        self._publisher = publisher

    async def run(self) -> None:
        """Until cancelled; what is under way then ends with it."""
        async with Together() as sending:
            while True:
                going = await self._core.codes.outgoing.get()
                sending.create_task(self._one(going), name=f"code {going.event_id}")

    async def _one(self, going: Outgoing) -> None:
        try:
            await self.send(going)
        except Exception:  # such as a database that is away; `settle` says that nobody knows whether it came
            log.exception("code.failed", extra={"event": going.event_id})

    async def send(self, going: Outgoing) -> None:
        """Into a direct message, tried again while the code is good."""
        live = self._core.is_live(going.program)
        view = CodeView(going.label, going.where, going.code, going.good_until, live)
        while self._core.clock.now() < going.good_until:
            try:
                channel = await self._publisher.open_direct(going.person)
                await self._publisher.post(
                    view, channel=channel, dedupe=otp_alerts.THREE_DS.condition(going.event_id)
                )
            except (SlackTrouble, SlackRefused, MessageGone) as error:
                log.warning("code.not_sent", extra={"event": going.event_id, "error": str(error)})
                if isinstance(error, SlackRefused):
                    break
                await self._core.clock.sleep(getattr(error, "retry_after_s", None) or _TRY_AGAIN_S)
                person = await self._person_now(going)
                if person is None:
                    said = otp_alerts.nobody_named(going.label, going.where, going.partner_ref)
                    await self._not_sent(going, said)
                    return
                if person != going.person:
                    break
            else:
                await self._sent(going)
                return
        said = otp_alerts.THREE_DS.says("not delivered", card=going.label, purchase=going.where)
        await self._not_sent(going, said)

    async def _person_now(self, going: Outgoing) -> str | None:
        """Who gets the codes of the reference by now. A database that is away knows of no change."""
        try:
            async with self._core.store.read() as tx:
                return await _person_of(tx, self._core, going.partner_ref)
        except Exception as error:
            if not is_out_of_use(error):
                raise
            return None if self._core.held.holds(f"code:{going.partner_ref}") else going.person

    async def _sent(self, going: Outgoing) -> None:
        async with self._core.store.begin() as tx:
            subject, body = f"code:{going.event_id}", {"person": going.person}
            await audit.record(tx, self._core, "system:codes", "code.sent", subject, body)
            ended = otp_alerts.THREE_DS.ended("sent", card=going.label)
            await alerts.resolve(tx, self._core, otp_alerts.THREE_DS.condition(going.event_id), ended=ended)

    async def _not_sent(self, going: Outgoing, said: Said) -> None:
        async with self._core.store.begin() as tx:
            condition = otp_alerts.THREE_DS.condition(going.event_id)
            await alerts.tell(
                tx, self._core, said, condition=condition, subject=going.event_id, program=going.program
            )


async def settle(core: Core) -> None:
    """Codes that were on their way when the process ended: it is said that nobody knows whether they came."""
    async with core.store.begin() as tx:
        for alert in await alert_rows.open_of(tx, otp_alerts.THREE_DS.name):
            if not was_before(alert.raised_at, tx.now - _KNOWN_AFTER, tx.now):
                continue
            said = otp_alerts.THREE_DS.says("may not have come", title_before=alert.title)
            await alerts.tell(
                tx, core, said, condition=alert.dedupe, subject=alert.subject, program=alert.program or ""
            )
