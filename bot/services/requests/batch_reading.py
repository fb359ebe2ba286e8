"""From a list that somebody uploaded or pasted to a draft of a batch: every row checked, all faults at once.

No network. A list with a fault is refused whole and nothing of it is kept, so that it can be fixed and
sent again without a row going twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.cards import HEADERS
from bot.domain.errors import InvalidFields, NotFound
from bot.domain.limits import never_fits
from bot.domain.money import InvalidAmount, exact_sum, with_point
from bot.domain.requests import Column, Problem, State, Unreadable, batch_csv
from bot.domain.visibility import may_see_form
from bot.operations import Operation, refuse_card_number, value_types
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.requests import batch_rows
from bot.services.requests.drafts import read_form
from storage.requests import Draft, drafts, requests
from storage.transaction import Tx

_DRAFT = "bulk:"
_BY_HEADER = {batch_csv.header_key(header): by for header, by in HEADERS.items()}
# Spreadsheets put semicolons between cells where a comma stands before the cents.
_COMMA_BEFORE_CENTS = ";"
_NOTHING_CAME = frozenset({State.FAILED, State.CANCELLED, State.EXPIRED, State.REJECTED})


@dataclass(frozen=True, slots=True)
class DraftRow:
    """One row of a draft: its line in the list, and what it asks for."""

    line: int
    operation: Operation


@dataclass(frozen=True, slots=True)
class Read:
    """What a list was understood as."""

    draft_id: str
    cls: type[Operation]
    rows: tuple[DraftRow, ...]

    @property
    def operations(self) -> list[Operation]:
        return [row.operation for row in self.rows]


def columns(cls: type[Operation]) -> list[Column]:
    others = cls.of_many().headers
    return [Column.of(f.name, f.label, *others.get(f.name, ()), optional=f.optional) for f in cls.fields]


def template(cls: type[Operation]) -> str:
    """A list to copy: the header and rows as examples."""
    header = ",".join(f.name.removesuffix("_usd").removeprefix("card_holder_") for f in cls.fields)
    return "\n".join([header, *cls.of_many().examples])


def kind_of(core: Core, text: str) -> type[Operation]:
    """The kind that a list's header asks for; the fullest form that its columns can fill."""
    named = batch_csv.columns_named(text)

    def fit(cls: type[Operation]) -> tuple[int, int]:
        known = columns(cls)
        return sum(bool(c.names & named) for c in known), -len(known)

    return max((cls for cls in core.kinds.values() if cls.batch), key=fit)


async def begin(core: Core, *, owner: str, text: str, kind: str | None = None) -> Read:
    """Check the list and keep it sealed as a draft. Raises `Unreadable`, which is audited."""
    cls = core.kinds[kind] if kind else kind_of(core, text)
    async with audited_refusal(core, owner, f"{cls.kind}.bulk", of=Unreadable, reason="invalid_list"):
        try:
            rows = batch_csv.read(text, columns(cls))
            async with core.store.begin() as tx:
                found, program = await _checked(tx, core, cls, rows)
                draft_id = await _keep(tx, core, owner, cls, program, found)
        except Unreadable as refusal:
            raise Unreadable(_without_card_numbers(refusal.problems)) from None
    return Read(draft_id, cls, found)


async def again(core: Core, request_id: str, *, owner: str) -> Read:
    """The rows of an ended batch of which nothing came, as a new draft. Raises `NotFound` where there are none."""
    async with core.store.begin() as tx:
        batch = await requests.get(tx, request_id)
        if batch is None or not batch.is_batch or batch.is_open:
            raise NotFound(f"{request_id} isn't a batch that has ended.")
        cls = core.kinds[batch.kind]
        if not can_be_asked_again(cls):
            raise NotFound(
                "The phone numbers and addresses of these orders were deleted at their end. Send a new list of them."
            )
        rest = [row for row in await batch_rows.included(tx, batch) if row.state in _NOTHING_CAME]
        if not rest:
            raise NotFound(f"Every row of {batch.id} is done.")
        found = tuple(
            DraftRow(int(row.facts["line"]), cls.of_stored(row.terms, row.subject_label)) for row in rest
        )
        return Read(await _keep(tx, core, owner, cls, batch.program, found), cls, found)


def can_be_asked_again(cls: type[Operation]) -> bool:
    """False where a row's private values are gone with its end."""
    return not any(field.private for field in cls.fields)


async def _keep(
    tx: Tx, core: Core, owner: str, cls: type[Operation], program: str, rows: Sequence[DraftRow]
) -> str:
    draft = Draft(
        id=core.ids.ulid(),
        owner=owner,
        kind=_DRAFT + cls.kind,
        program=program,
        values={"rows": _packed(rows)},
        target_label="",
        reason="",
        run_now=False,
        facts={},
        created_at=tx.now,
    )
    await drafts.put(tx, draft)
    return draft.id


async def _checked(
    tx: Tx, core: Core, cls: type[Operation], rows: Iterable[batch_csv.Row]
) -> tuple[tuple[DraftRow, ...], str]:
    """The rows with canonical values, and the one program they are of. Raises `Unreadable`."""
    problems: list[Problem] = []
    found: list[DraftRow] = []
    programs: dict[str, int] = {}
    seen: dict[str, int] = {}
    for row in rows:
        try:
            checked, program = await _row(tx, core, cls, row)
        except InvalidFields as wrong:
            problems += [Problem(row.line, sentence) for sentence in wrong.errors.values()]
            continue
        subject = checked.operation.subject
        if subject and subject in seen:
            problems.append(Problem(row.line, _again(checked.operation, seen[subject])))
        seen.setdefault(subject, row.line)
        programs.setdefault(program, row.line)
        found.append(checked)
    if len(programs) > 1:
        where = ", ".join(f"{name} (line {line})" for name, line in programs.items())
        problems.append(Problem(0, f"The cards are of several programs: {where}. Make a list for each."))
    never = never_fits(core.policy.limits, exact_sum(row.operation.exposure_usd() for row in found))
    if never and not problems:
        problems.append(Problem(0, f"All rows together: {never}"))
    if problems:
        raise Unreadable(problems)
    return tuple(found), next(iter(programs))


def _again(operation: Operation, line: int) -> str:
    together = " Put the amounts into one row." if operation.handling.moves_float else " Once is enough."
    return f"It names {operation.target_label} again, as line {line} does.{together}"


async def _row(tx: Tx, core: Core, cls: type[Operation], row: batch_csv.Row) -> tuple[DraftRow, str]:
    """Raises `InvalidFields` with everything that is wrong in this row."""
    errors: dict[str, str] = {}
    texts = dict(row.texts)
    for field in cls.fields:
        if field.holds is value_types.USD and row.delimiter == _COMMA_BEFORE_CENTS:
            try:
                texts[field.name] = with_point(texts.get(field.name, ""))
            except InvalidAmount as error:
                errors[field.name] = str(error)
    by = next((_BY_HEADER.get(row.headers.get(field.name, "")) for field in cls.fields if field.card), None)
    try:
        operation, program = await read_form(tx, core, cls, texts, by)
    except InvalidFields as found:
        raise InvalidFields(found.errors | errors) from None
    if errors:
        raise InvalidFields(errors)
    return DraftRow(row.line, operation), program or core.default_program


def _without_card_numbers(problems: Sequence[Problem]) -> list[Problem]:
    """No sentence repeats what looks like a card number, whatever column it stood in."""
    safe = []
    for problem in problems:
        try:
            refuse_card_number(problem.text)
            safe.append(problem)
        except ValueError as guarded:
            safe.append(Problem(problem.line, str(guarded)))
    return safe


def _packed(rows: Sequence[DraftRow]) -> str:
    return json.dumps([[row.line, row.operation.stored(), row.operation.target_label] for row in rows])


def of_draft(core: Core, draft: Draft | None, owner: str) -> Read | None:
    """The batch that a draft holds; None when it is gone, somebody else's, or no batch."""
    if draft is None or not may_see_form(owner, draft.owner) or not draft.kind.startswith(_DRAFT):
        return None
    cls = core.kinds[draft.kind.removeprefix(_DRAFT)]
    rows: list[Any] = json.loads(draft.values["rows"])
    found = tuple(
        DraftRow(int(line), cls.of_stored(texts, label, private=texts)) for line, texts, label in rows
    )
    return Read(draft.id, cls, found)
