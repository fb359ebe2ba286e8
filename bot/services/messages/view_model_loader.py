"""Reading pictures from the database: the current state of a request or alert, ready to be drawn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.domain import slack_faults
from bot.domain.alerts import catalogue, funding_alerts
from bot.domain.ids import short_code
from bot.domain.money import format_usd
from bot.domain.requests import RETURNED, Request, State
from bot.operations import loaded_facts
from bot.services import display_names
from bot.services import message_kinds as kinds
from bot.services.alerts import funding_rules, urgent_rules
from bot.services.alerts import view_models as alert_view_models
from bot.services.cards import card_sync, details_link
from bot.services.core import Core
from bot.services.message_kinds import About, MessageKind, Subject
from bot.services.messages import mentions
from bot.services.money import float_history
from bot.services.operators import confirmation_answers, programs
from bot.services.requests import batch_results, granted_sums, local_facts
from bot.services.requests import view_models as request_view_models
from bot.view_models import (
    AlertChartView,
    AlertLineView,
    AlertView,
    AnchorView,
    DigestView,
    DirectView,
    LineView,
    LinkView,
    MessageView,
    RequestView,
    ResultsView,
)
from storage.cards import api_snapshots, cards
from storage.messages import OutboxRow, alerts, outbox
from storage.requests import decisions, requests
from storage.transaction import Tx

#: The body of an outbox row.
Body = Mapping[str, Any]
#: Reads the view model of a message: core, the id of its subject, the body of its row.
Load = Callable[[Core, str, Body], Awaitable[MessageView | None]]


async def row(core: Core, to_send: OutboxRow) -> MessageView | None:
    """What this outbox row asks to draw, as things are now; None when its subject no longer exists."""
    kind = kinds.kind_of(to_send.kind, to_send.subject, to_send.body)
    if kind is None:
        return None
    return await LOADERS[kind](core, Subject.read(to_send.subject).id, to_send.body)


async def _request_card(core: Core, request_id: str, _body: Body) -> RequestView | None:
    async with core.store.read() as tx:
        found = await requests.get(tx, request_id)
        if found is None:
            return None
        view = await request_view_models.request(tx, core, await with_card_after(tx, found))
    return replace(view, mentions=await mentions.of_request(core, found, view.decisions))


async def _request_line(core: Core, request_id: str, body: Body) -> LineView | None:
    async with core.store.read() as tx:
        found = await requests.get(tx, request_id)
        if found is None:
            return None
        made = tuple(await decisions.of(tx, found.id))
        view = LineView(
            request=await granted_sums.as_asked_now(tx, core, await _with_names(tx, found), made),
            line=str(body.get("line", "")),
            actor=await display_names.of(tx, str(body.get("actor", ""))),
            text=await display_names.in_text(tx, str(body.get("text", ""))),
            decisions=made,
            approver_names=core.policy.people.approvers,
            live=core.is_live(found.program),
            draft_only=await request_view_models.is_draft(tx, found),
        )
    if view.line not in mentions.ASKING:
        return view
    return replace(view, mentions=await mentions.of_request(core, found, view.decisions))


async def _with_names(tx: Tx, request: Request) -> Request:
    """The same, with names in place of the mentions that its outcome may hold."""
    return replace(request, outcome_text=await display_names.in_text(tx, request.outcome_text))


async def with_card_after(tx: Tx, request: Request) -> Request:
    """The same, saying what is known of its card since: that a new one is ready, or what one holds now."""
    outcome = loaded_facts(request.outcome or {})
    # What it held before its amount came back is no longer true.
    held = None if outcome.get(RETURNED) else outcome.get(card_sync.CARD_AFTER)
    card_id = outcome.get("card_id")
    if request.state is State.SUCCEEDED and held is not None:
        holds = f"The card holds {format_usd(held)} now."
        return replace(request, outcome_text=f"{request.outcome_text} {holds}")
    if request.state is not State.SUCCEEDED or card_id is None or card_id == request.subject:
        return request
    entry = await cards.get(tx, str(card_id))
    if entry is None or not entry.last4:
        return request
    return replace(request, outcome_text=f"Card ••{entry.last4} is ready. {request.outcome_text}")


async def _batch_results(core: Core, request_id: str, _body: Body) -> ResultsView | None:
    async with core.store.read() as tx:
        found = await requests.get(tx, request_id)
        if found is None:
            return None
        draft_only = await request_view_models.is_draft(tx, found)
        return await batch_results.results(tx, core, found, draft_only=draft_only)


async def _requester_notice(core: Core, request_id: str, body: Body) -> DirectView | None:
    async with core.store.read() as tx:
        found = await requests.get(tx, request_id)
        if found is None:
            return None
        actor = await display_names.of(tx, str(body.get("actor", "")))
        is_urgent = found.kind in core.kinds and core.kinds[found.kind].handling.is_urgent
        paused = await programs.why_waits(tx, found.program, is_urgent=is_urgent)
        waiting = tuple(await urgent_rules.waiting_of(tx, found))
        waits_for = await local_facts.goes_first(tx, core, found)
        found = await _with_names(tx, await with_card_after(tx, found))
        code, live = short_code(found.digest), core.is_live(found.program)
        is_draft = await request_view_models.is_draft(tx, found)
        sent_from = granted_sums.sent_from(found, await decisions.of(tx, found.id))
        view = DirectView(
            *(found, code, actor, None, live, paused, waiting, waits_for, sent_from), draft_only=is_draft
        )
        of_posting = found.state is State.PENDING and not actor  # nobody did anything yet
        return await _pending_notice(tx, core, view) if of_posting else view


async def _pending_notice(tx: Tx, core: Core, view: DirectView) -> DirectView | None:
    """Of a request nobody has decided on, its requester is only shown that its card could not be posted, and then that
    it is; None where it is, and nothing else was ever said."""
    card = Subject(kinds.REQUEST_CARD.about, view.request.id).stored()
    if await outbox.place(tx, card, kinds.REQUEST_CARD.form) is None:
        error = await outbox.trouble(tx, card)
        unposted = slack_faults.explained(error) if error else ""
        return replace(view, unposted=unposted or "It waits its turn.", channel=core.channels.approvals)
    notice = Subject(kinds.REQUESTER_NOTICE.about, view.request.id).stored()
    if await outbox.place(tx, notice, kinds.REQUESTER_NOTICE.form) is None:
        return None
    return replace(view, channel=core.channels.approvals)


async def _details_link(core: Core, request_id: str, _body: Body) -> LinkView | None:
    return await details_link.make_link(core, request_id)


async def _alert(core: Core, alert_id: str, _body: Body) -> AlertView | None:
    async with core.store.read() as tx:
        row = await alerts.get(tx, alert_id)
        view = await alert(tx, core, alert_id)
    if row is None or view is None:
        return None
    return replace(view, mentions=await mentions.of_alert(core, row))


async def _alert_line(core: Core, alert_id: str, body: Body) -> AlertLineView:
    async with core.store.read() as tx:
        actor = await display_names.of(tx, str(body["actor"]))
        found = await alerts.get(tx, alert_id)
        program = found.program if found is not None else None
        draft_only = await programs.says_draft_only(tx, core, program)
    called = await mentions.named(core, [str(name) for name in body["mentions"] if name])
    return AlertLineView(actor, str(body["text"]), called, core.is_live(program), draft_only)


async def _alert_chart(core: Core, alert_id: str, _body: Body) -> AlertChartView | None:
    async with core.store.read() as tx:
        found = await alert(tx, core, alert_id)
    if found is None or found.history is None:
        return None
    return AlertChartView(kinds.chart_name(alert_id), found.history)


async def _digest(core: Core, day: str, _body: Body) -> DigestView | None:
    async with core.store.read() as tx:
        return await digest(tx, core, day)


async def _anchor(_core: Core, _seq: str, body: Body) -> AnchorView:
    return AnchorView(int(body["seq"]), str(body["line"]))


#: How the view model of each kind of message is read: from its subject's id and the body of its row.
LOADERS: Mapping[MessageKind, Load] = {
    kinds.REQUEST_CARD: _request_card,
    kinds.REQUEST_LINE: _request_line,
    kinds.BATCH_RESULTS: _batch_results,
    kinds.REQUESTER_NOTICE: _requester_notice,
    kinds.REQUESTER_LINE: _request_line,
    kinds.NOTICE_OF_ONE_CHANGE: _requester_notice,
    kinds.DETAILS_LINK: _details_link,
    kinds.ALERT: _alert,
    kinds.ALERT_LINE: _alert_line,
    kinds.ALERT_CHART: _alert_chart,
    kinds.DIGEST: _digest,
    kinds.AUDIT_ANCHOR: _anchor,
}


async def digest(tx: Tx, core: Core, day: str) -> DigestView | None:
    kept = await api_snapshots.get(tx, "", f"digest:{day}")
    if kept is None:
        return None
    lines = tuple((str(label), str(text)) for label, text in kept.value["lines"])
    waiting = [
        (str(one["text"]), _utc(one["since"]), _utc(one["expires"])) for one in kept.value.get("waiting", ())
    ]
    return DigestView(
        day,
        lines,
        tuple(kept.value["still_open"]),
        core.is_live(),
        first=str(kept.value.get("first", "")),
        waiting=tuple(waiting),
        waiting_in_all=int(kept.value.get("waiting_in_all", 0)),
        draft_only=await programs.says_draft_only(tx, core, None),
    )


def _utc(seconds: Any) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


async def alert(tx: Tx, core: Core, alert_id: str) -> AlertView | None:
    found = await alerts.get(tx, alert_id)
    if found is None:
        return None
    about = tuple(request.id for request in await requests_about(tx, core, found))
    found = await confirmation_answers.as_signed(tx, found)
    with_requests = replace(await alert_view_models.alert_view(tx, core, found), requests=about)
    if not catalogue.of(found.kind).has_float_chart:
        return with_requests
    return replace(with_requests, history=await float_history.of(tx, core, found.subject))


async def requests_about(tx: Tx, core: Core, alert: alerts.Alert) -> list[Request]:
    """The requests that what the alert is about came from; their messages and the alert's link each other."""
    if alert.kind != funding_alerts.FUNDING.name:
        return []
    return await funding_rules.requests_of(tx, core, alert.subject)


async def place(core: Core, request_id: str) -> outbox.MessagePlace | None:
    """Where the request's card is in Slack."""
    async with core.store.read() as tx:
        return await outbox.place(
            tx, kinds.stored_subject(About.REQUEST, request_id), kinds.REQUEST_CARD.form
        )
