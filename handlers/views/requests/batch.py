"""Many cards in one request: what was read, the preview, the rows in pages, and leaving rows out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.money import format_usd
from bot.domain.passkeys import Purpose
from bot.domain.requests import MAX_ROWS, Problem, Request, State, pages_of, progress_text
from bot.operations import Operation, urgency
from bot.partner.secret import Secret
from bot.view_models import BatchConfirmation, BulkPreviewView, RequestView
from handlers.views import blocks as b
from handlers.views import ids, passkeys
from handlers.views.requests import approval_modals, forms
from handlers.views.requests.batch_rows import ON_CARD, ROW_LIMIT, page_of, texts_of

ROWS = "rows"
# What Slack takes in a text field of a form.
PASTED_LIMIT = 3000
_PROBLEMS = 30


def understood(cls: type[Operation], summaries: Sequence[str], draft_id: str) -> b.Block:
    """The answer to an uploaded list: what it was read as. Nothing is asked for before it is submitted."""
    head = f"I read {b.counted(len(summaries), 'row')} for “{cls.title}”. Nothing has been requested yet."
    rows = [f"{number}. {summary}" for number, summary in enumerate(summaries[:ON_CARD], 1)]
    blocks = [b.section(b.esc(head)), *texts_of(rows)]
    if len(summaries) > ON_CARD:
        blocks.append(b.context(f"and {len(summaries) - ON_CARD} more"))
    blocks.append(b.actions([b.button("Review and submit", ids.BULK_REVIEW, draft_id, "primary")]))
    return b.message(b.esc(head), blocks)


def faults(problems: Sequence[Problem]) -> b.Block:
    """The answer to a list with faults: all of them, and that nothing of it was kept."""
    text = "This list has errors, so none of it was taken. Fix them and send it again."
    blocks = [b.section(f"*✗* {b.esc(text)}"), *texts_of(_faults(problems))]
    return b.message(text, blocks)


def fault_text(problems: Sequence[Problem]) -> str:
    """The same for the field of a form."""
    return b.cut("\n".join(_faults(problems)), 1900)


def _faults(problems: Sequence[Problem]) -> list[str]:
    shown = [b.cut(str(problem), ROW_LIMIT) for problem in problems[:_PROBLEMS]]
    more = len(problems) - _PROBLEMS
    return [*shown, f"and {more} more"] if more > 0 else shown


def paste_form(cls: type[Operation], template: str, *, channel: str = "") -> b.Block:
    """Paste the list here; a longer one goes as a file in a direct message."""
    element: b.Block = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": PASTED_LIMIT,
        "placeholder": b.plain(template.replace("\n", " ⏎ "), b.PLACEHOLDER),
    }
    hint = (
        f"The first line names the columns, in any order. At most {MAX_ROWS} rows. For more than {PASTED_LIMIT}"
        " characters send the file to Countersign in a direct message."
    )
    blocks = [
        b.section(f"*{b.esc(cls.verb)} many cards with one request.* Paste rows as CSV, for example:"),
        {"type": "section", "text": b.plain(template, b.SECTION)},
        b.field(ROWS, "Rows", element, hint=hint),
    ]
    meta = ids.pack(kind=cls.kind, **({"channel": channel} if channel else {}))
    return b.modal(ids.BULK_PASTE, cls.title, blocks, submit="Preview", close="Cancel", meta=meta)


def preview(found: BulkPreviewView, page: int = 1, *, channel: str = "") -> b.Block:
    """What the whole would do; the reason is typed here, and Submit records it."""
    blocks = [b.header(found.verb), b.plain_section(found.summary), *forms.concerns(found.concerns)]
    lines = list(found.lines)
    if found.total_usd:
        lines.insert(0, ("In all", format_usd(found.total_usd)))
    blocks += b.pairs(lines)
    blocks += page_of(found.rows, page, f"preview:{found.draft_id}", in_full=True)
    blocks += [forms.reason_field(), b.section(_who(found))]
    blocks.append(b.context(forms.which_money(found.program, live=found.live)))
    meta = ids.pack(draft=found.draft_id, kind=found.kind, **({"channel": channel} if channel else {}))
    return b.modal(ids.BULK_PREVIEW, found.title, blocks, submit="Submit", close="Close", meta=meta)


def _who(found: BulkPreviewView) -> str:
    needed = b.counted(found.approvals_needed, "approval")
    names = ", ".join(b.mention(person) for person in found.approvers[:10])
    if len(found.approvers) < found.approvals_needed:
        return (
            f"*▲ Needs {needed}* for the total, and only {b.counted(len(found.approvers), 'other approver')} could"
            " give one right now. Ask an admin to add approvers; the request would wait until it expires."
        )
    return f"*Needs {needed}* for the total, from {names} (not you: you requested it)."


def rows(view: RequestView, page: int = 1, *, viewer: str = "") -> b.Block:
    """All rows of a batch with what came of each; the requester may leave some out while it is pending."""
    request, batch = view.request, view.batch
    found = batch.rows if batch else ()
    blocks = [b.header(f"{request.id}: {request.summary}")]
    if batch and request.state is not State.PENDING:
        how = urgency.failed_how(request.kind)
        blocks.append(b.section(b.esc(progress_text(batch.states, failed_how=how))))
    blocks += page_of(found, page, f"rows:{request.id}", can_resolve=True)
    if request.state is State.PENDING and request.requester == viewer and (request.rows or 0) > 1:
        out = b.button("Leave rows out", ids.BULK_LEAVE_OUT, ids.stamp(request.id, request.version))
        blocks.append(b.actions([out], "leave_out"))
    return b.modal(ids.NOTICE, request.id, blocks, meta=ids.pack(request=request.id))


def leave_out_form(view: RequestView) -> b.Block:
    """Which rows are not asked for after all."""
    request = view.request
    found = view.batch.rows if view.batch else ()
    options = [b.option(f"{row.number}. {row.summary}", row.id) for row in found if not row.is_left_out]
    element: b.Block = {
        "type": "multi_static_select",
        "options": options,
        "placeholder": b.plain("Choose rows", b.PLACEHOLDER),
    }
    explained = "This changes the request, so approvals already given no longer count. Rows you leave out are not sent."
    blocks = [b.section(b.esc(explained)), b.field(ROWS, "Rows to leave out", element)]
    meta = ids.pack(request=request.id)
    return b.modal(ids.BULK_LEFT_OUT, "Leave rows out", blocks, submit="Leave out", close="Back", meta=meta)


@dataclass(frozen=True, slots=True)
class Read:
    """What an approver has read of a batch: its rows up to this page, under this digest."""

    digest: str
    pages: int

    @classmethod
    def of(cls, meta: ids.Meta) -> Read:
        """As the window keeps it in its private metadata."""
        return cls(meta.get("digest", ""), int(meta.get("read", "0")))


def all_read(shown: BatchConfirmation, read: Read | None) -> bool:
    """Whether each page was open, this one included."""
    pages = pages_of([row.size for row in shown.rows])
    return max(shown.page, read.pages if read else 0) >= len(pages)


def confirmation(
    shown: BatchConfirmation, read: Read | None = None, passkey: Secret | None = None
) -> b.Block:
    """What an approver reads: the total and its effect as for any request, and every row, in pages.

    **Approve** comes when each page was open. Until then the window has no such button. `passkey` is the address of the
    page where it is approved, in place of it.
    """
    view = approval_modals.confirmation(shown.found)
    asked = shown.found.view.request
    pages = pages_of([row.size for row in shown.rows])
    so_far = max(shown.page, read.pages if read else 0)
    *upper, how_many, money = view["blocks"]
    lower = [*page_of(shown.rows, shown.page, f"approve:{asked.id}", in_full=True)]
    if so_far < len(pages):
        rest = f"{len(shown.rows) - pages[so_far].start} of {len(shown.rows)} are left"
        lower.append(b.context(f"You can approve once you have seen all rows: {rest}. Press *Next rows*."))
    lower += [how_many, money]
    if passkey is not None:
        lower += [passkeys.button(Purpose.APPROVE, passkey), passkeys.explained()]
    room = b.ALL_TEXT - sum(map(b.weight, lower))
    meta = ids.pack(request=asked.id, version=asked.version, digest=asked.digest, read=so_far)
    whole = {
        **view,
        "private_metadata": meta,
        "blocks": [*b.fit(upper, b.VIEW_BLOCKS - len(lower), room), *lower],
    }
    if so_far >= len(pages) and passkey is None:
        return whole
    return {name: value for name, value in whole.items() if name != "submit"} | {"callback_id": ids.NOTICE}


def left_out(request: Request) -> str:
    rows_left = b.counted(request.rows or 0, "row")
    return f"{request.id} now asks for {rows_left}: {request.summary}. It has no approval yet."
