"""Many cards in one request: a list pasted into a form or sent as a file, its preview, its rows."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.errors import NotAllowed, NotFound
from bot.domain.people import Standing
from bot.domain.requests import Unreadable, batch_csv
from bot.operations import Operation, readers
from bot.services import people
from bot.services.requests import approvals, batch_reading, batch_submission, request_lookups
from handlers.guard import Json, Turn
from handlers.modals import submissions as modals
from handlers.slack_api import fetch
from handlers.views import blocks, ids, replies
from handlers.views.requests import batch as views
from handlers.views.requests import forms

_WORD = "bulk"
_READING = "Reading the float and the rows…"
_ENDINGS = (".csv", ".tsv", ".txt")


def is_bulk(cls: type[Operation], rest: str) -> bool:
    """`/card topup bulk`, of a kind that can be asked for in bulk."""
    return rest.strip().lower() == _WORD and cls.batch is not None


async def open_paste(turn: Turn, cls: type[Operation]) -> None:
    await people.require_may_ask(
        turn.core, turn.user, cls, action=f"{cls.kind}.bulk.open", within_s=people.ANSWERED_WITHIN_S
    )
    view = views.paste_form(cls, batch_reading.template(cls), channel=turn.channel)
    await turn.client.views_open(trigger_id=turn.trigger, view=view)


async def paste(turn: Turn) -> None:
    """The pasted list: faults are reported on the field, so that nothing typed is lost."""
    meta = ids.unpack(turn.view["private_metadata"])
    text = forms.answer(turn.view["state"]["values"][views.ROWS]["value"])
    cls = turn.core.kinds[meta["kind"]]
    try:
        read = await batch_reading.begin(turn.core, owner=turn.user, text=text, kind=cls.kind)
    except Unreadable as wrong:
        await turn.ack(response_action="errors", errors={views.ROWS: views.fault_text(wrong.problems)})
        return
    await turn.ack(response_action="update", view=forms.loading(cls.title, _READING))
    work = _show_preview(turn, turn.view["id"], read.draft_id, meta.get("channel", ""))
    turn.after_in_view(turn.view["id"], cls.title, work)


async def uploaded(turn: Turn) -> None:
    """A file in the app's own conversation: what it was read as, or everything that is wrong with it."""
    await people.require_requester(
        turn.core, turn.user, action="bulk.upload", within_s=people.ANSWERED_WITHIN_S
    )
    files = turn.event.get("files") or []
    if len(files) != 1 or not _may_be_a_list(files[0]):
        await turn.tell(replies.said("Send one CSV file at a time. See `/card topup bulk`."))
        return
    content = await fetch(turn.client, files[0], most_bytes=batch_csv.MAX_BYTES)
    await turn.tell(await _answer(turn, content))


async def _answer(turn: Turn, content: bytes) -> blocks.Block:
    try:
        text = batch_csv.decode(content)
        read = await batch_reading.begin(turn.core, owner=turn.user, text=text)
    except Unreadable as wrong:
        return views.faults(wrong.problems)
    summaries = [operation.summary() for operation in read.operations]
    return views.understood(read.cls, summaries, read.draft_id)


def _may_be_a_list(file: Json) -> bool:
    """By its name, or by what Slack takes it for: pasted text becomes a file without an ending."""
    named = str(file.get("name", "")).lower().endswith(_ENDINGS)
    return named or str(file.get("mimetype", "")).startswith("text/")


async def review(turn: Turn) -> None:
    """Review and submit, under an uploaded list."""
    draft_id = str(turn.action.get("value") or "")
    await turn.ack()
    turn.after(_review(turn, draft_id))


async def again(turn: Turn, request_id: str) -> None:
    """Request again, under a batch: the rows of which nothing came, as a new one."""
    read = await batch_reading.again(turn.core, request_id, owner=turn.user)
    await _review(turn, read.draft_id)


async def _review(turn: Turn, draft_id: str) -> None:
    opened = await turn.client.views_open(trigger_id=turn.trigger, view=forms.loading("Review", _READING))
    view_id = opened["view"]["id"]
    turn.after_in_view(view_id, "Review", _show_preview(turn, view_id, draft_id, turn.channel))


async def _show_preview(turn: Turn, view_id: str, draft_id: str, channel: str, page: int = 1) -> None:
    found = await batch_submission.preview(turn.core, draft_id, turn.user)
    await turn.client.views_update(view_id=view_id, view=views.preview(found, page, channel=channel))


async def preview(turn: Turn) -> None:
    """Submit: recorded before Slack is answered, as a single request is."""
    meta = ids.unpack(turn.view["private_metadata"])
    try:
        reason = readers.read_reason(forms.answer(turn.view["state"]["values"][forms.REASON]["value"]))
    except ValueError as wrong:
        await turn.ack(response_action="errors", errors={forms.REASON: str(wrong)})
        return
    request = await batch_submission.submit(turn.core, meta["draft"], turn.user, reason=reason)
    await turn.ack(response_action="clear")
    turn.after(modals.tell_requester(turn, request, meta.get("channel", "")))


async def turn_page(turn: Turn) -> None:
    """Previous and next rows, in the window they are pressed in."""
    what, subject, page = str(turn.action.get("value") or "::").split(":")
    await turn.ack()
    view_id, title = turn.view["id"], str(turn.view["title"]["text"])
    if what == "preview":
        channel = ids.unpack(turn.view["private_metadata"]).get("channel", "")
        work = _show_preview(turn, view_id, subject, channel, int(page))
    elif what == "approve":
        work = _turn_confirmation(turn, view_id, subject, int(page))
    else:
        work = _show_rows(turn, view_id, subject, int(page))
    turn.after_in_view(view_id, title, work)


async def _turn_confirmation(turn: Turn, view_id: str, request_id: str, page: int) -> None:
    """Another page holds other private values: who may not decide any more sees none of them."""
    standing = await approvals.require_may_approve(turn.core, request_id, turn.user)
    read = views.Read.of(ids.unpack(turn.view["private_metadata"]))
    await confirm(turn, view_id, request_id, standing, page, read)


async def confirm(
    turn: Turn,
    view_id: str,
    request_id: str,
    standing: Standing,
    page: int = 1,
    read: views.Read | None = None,
    *,
    again: bool = False,
) -> None:
    """The approver's window of a batch: its rows in full, drawn from the database.

    `read` is what they read so far; `again`: they have to begin again.
    """
    shown = await request_lookups.confirmation_of_batch(turn.core, request_id, turn.user, standing, page)
    if read is not None and read.digest != shown.found.view.request.digest:
        # Others stand on the pages now, so it begins again.
        await confirm(turn, view_id, request_id, standing, again=True)
        return
    if again:
        reread = ("Rows were left out while you were reading: read the list again from its first row.",)
        shown = replace(shown, found=replace(shown.found, changed=(*reread, *shown.found.changed)))
    page_link = None
    if views.all_read(shown, read):
        page_link = await approvals.page_to_approve(turn.core, shown.found.view.request, turn.user, view_id)
    await turn.client.views_update(view_id=view_id, view=views.confirmation(shown, read, page_link))


async def rows(turn: Turn, request_id: str, version: int) -> None:
    """The Rows button of a request."""
    opened = await turn.client.views_open(
        trigger_id=turn.trigger, view=forms.loading(request_id, "Reading the rows…")
    )
    view_id = opened["view"]["id"]
    turn.after_in_view(view_id, request_id, _show_rows(turn, view_id, request_id))


async def _show_rows(turn: Turn, view_id: str, request_id: str, page: int = 1) -> None:
    await people.require_reader(turn.core, turn.user)
    view = await request_lookups.request_view(turn.core, request_id)
    if view.batch is None:
        raise NotFound(f"{request_id} has no rows.")
    await turn.client.views_update(view_id=view_id, view=views.rows(view, page, viewer=turn.user))


async def open_leave_out(turn: Turn) -> None:
    """Leave rows out, in the window of the rows: the requester chooses which."""
    request_id, _ = ids.unstamp(str(turn.action.get("value") or ""))
    await turn.ack()
    turn.after_in_view(turn.view["id"], request_id, _show_leave_out(turn, request_id))


async def _show_leave_out(turn: Turn, request_id: str) -> None:
    view = await request_lookups.request_view(turn.core, request_id)
    if view.request.requester != turn.user:
        raise NotAllowed("Only the person who asked can leave rows out.", "not_the_requester")
    await turn.client.views_update(view_id=turn.view["id"], view=views.leave_out_form(view))


async def left_out(turn: Turn) -> None:
    """Recorded before Slack is answered: what is asked for has changed."""
    meta = ids.unpack(turn.view["private_metadata"])
    chosen = forms.answer(turn.view["state"]["values"][views.ROWS]["value"]).split()
    request = await batch_submission.leave_out(turn.core, meta["request"], turn.user, chosen)
    said = blocks.modal(ids.NOTICE, request.id, [blocks.plain_section(views.left_out(request))])
    await turn.ack(response_action="update", view=said)
