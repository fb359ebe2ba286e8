"""The buttons of an alert, and the modal of its snooze. Their value is the alert's id."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.domain.alerts import people_alerts, request_alerts
from bot.domain.errors import NotFound
from bot.services import people
from bot.services.alerts import alert_actions, remedies
from bot.services.events import relay
from bot.services.execution import try_now
from bot.services.operators import confirmation_answers, handover, pausing
from handlers.commands import dispatch, grammar, open_forms
from handlers.guard import Turn
from handlers.views import alerts, ids, replies
from handlers.views.requests import Filled

_FIRST_STEPS = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "7d": timedelta(days=7)}


async def pressed(turn: Turn) -> None:
    """`alert:ack` and its kin, and the entries under the dots."""
    verb, alert_id = turn.action["action_id"].partition(":")[2], str(turn.action.get("value") or "")
    if verb == "more":
        verb, _, alert_id = str(turn.action["selected_option"]["value"]).partition(":")
    await turn.ack()
    if verb not in _WORK or not alert_id.startswith("A-"):
        raise NotFound("This button belongs to no alert. Look at /countersign alerts.")
    turn.after(_WORK[verb](turn, alert_id))


async def _ack(turn: Turn, alert_id: str) -> None:
    alert = await alert_actions.acknowledge(turn.core, alert_id, turn.user)
    await turn.tell(replies.said(f"✓ Acknowledged by you for 4 hours: {alert.title}"))


async def _snooze(turn: Turn, alert_id: str) -> None:
    await turn.client.views_open(
        trigger_id=turn.trigger, view=alerts.snooze(alert_id, "Until then its message stays as it is.")
    )


async def _assign(turn: Turn, alert_id: str) -> None:
    alert = await alert_actions.assign(turn.core, alert_id, turn.user)
    await turn.tell(replies.said(f"✓ Assigned to you: {alert.title}"))


async def _resolve(turn: Turn, alert_id: str) -> None:
    alert = await alert_actions.end(turn.core, alert_id, turn.user)
    await turn.tell(replies.said(f"✓ Resolved by you: {alert.title}"))


async def _remedy(turn: Turn, alert_id: str) -> None:
    """The form that fixes it, filled; the card, where it was frozen for a reason; or a text for the card provider."""
    found = await remedies.of(turn.core, alert_id)
    if found.card_id:
        await _tell_card(turn, found.card_id)
        return
    cls = turn.core.kinds.get(found.kind)
    if cls is not None:
        filled = Filled(dict(found.texts), program=found.program)
        note = f"Drafted for “{found.title}”. Check it before you submit."
        await open_forms.open_form(turn, cls, filled, note=note)
        return
    await people.require_reader(turn.core, turn.user, action="alert.remedy")
    await turn.client.views_open(trigger_id=turn.trigger, view=alerts.support(found.title, found.text))


async def _show_card(turn: Turn, alert_id: str) -> None:
    await _tell_card(turn, await remedies.card_of(turn.core, alert_id))


async def _tell_card(turn: Turn, card_id: str) -> None:
    await turn.tell(await dispatch.answer(turn, grammar.from_text(f"card show {card_id}")))


async def _try_now(turn: Turn, alert_id: str) -> None:
    alert = await alert_actions.of_kind(turn.core, alert_id, request_alerts.NOT_DONE_YET)
    tried = await try_now.try_now(turn.core, alert.subject, turn.user)
    await turn.tell(replies.said(f"➤ {tried.id} is tried now. Its message shows what comes of it."))


async def _redeliver(turn: Turn, alert_id: str) -> None:
    count = await relay.redeliver(turn.core, alert_id, turn.user)
    await turn.tell(replies.said(f"✓ {count} events are sent again, with the ids and bytes they had."))


async def _resume(turn: Turn, alert_id: str) -> None:
    alert = await alert_actions.of_kind(turn.core, alert_id, people_alerts.PAUSED)
    for said in await pausing.resume(turn.core, turn.user, [alert.subject]):
        await turn.tell(replies.said(said))


async def _confirm(turn: Turn, alert_id: str) -> None:
    asked = await confirmation_answers.asked_in(turn.core, alert_id)
    await turn.tell(replies.said(f"✓ {await confirmation_answers.give(turn.core, asked, turn.user)}"))


async def _decline(turn: Turn, alert_id: str) -> None:
    asked = await confirmation_answers.asked_in(turn.core, alert_id)
    await confirmation_answers.decline(turn.core, asked, turn.user)
    await turn.tell(replies.said("Declined. Nothing was changed."))


async def _take_over(turn: Turn, alert_id: str) -> None:
    alert = await handover.accept(turn.core, alert_id, turn.user)
    await turn.tell(replies.said(f"✓ You have taken over: {alert.title}"))


_WORK = {
    "resume": _resume,
    "confirm": _confirm,
    "decline": _decline,
    "take_over": _take_over,
    "ack": _ack,
    "snooze": _snooze,
    "assign": _assign,
    "resolve": _resolve,
    "remedy": _remedy,
    "redeliver": _redeliver,
    "try_now": _try_now,
    "show_card": _show_card,
}


async def snooze(turn: Turn) -> None:
    """The modal of the snooze; a time of no use is reported on the field."""
    meta = ids.unpack(turn.view["private_metadata"])
    values = turn.view["state"]["values"]
    moment = values["until"]["value"].get("selected_date_time")
    chosen = str(values["for"]["value"]["selected_option"]["value"])
    until = datetime.fromtimestamp(int(moment), UTC) if moment else _until(turn, chosen)
    try:
        await alert_actions.snooze(turn.core, meta["alert"], turn.user, until)
    except ValueError as wrong:
        await turn.ack(response_action="errors", errors={"until": str(wrong)})
        return
    await turn.ack()


def _until(turn: Turn, chosen: str) -> datetime:
    now = turn.core.clock.now()
    if chosen == "workday":
        return turn.core.alerting.hours.next_workday(now)
    return now + _FIRST_STEPS[chosen]
