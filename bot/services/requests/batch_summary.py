"""A batch in words: its sentence, its effect, and what speaks against it and its rows.

A row is named as the list shows it: `3. ALICE MOREAU ••4242 is frozen`. What speaks against rows is found in our own
records, for a preview and again for everybody who reads the batch before approving it. No network.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from bot.domain.people import APPROVAL_VALID_IN_WORDS
from bot.operations import Concern, Facts, Line, Operation
from bot.services.requests import drafts
from storage.cards import cards
from storage.transaction import Tx

MOST_LISTED = 10
_UNUSABLE = frozenset({"DELETED", "BLOCKED", "EXPIRED"})
_CLOSED = "is closed, blocked or expired, so nothing will be sent"
_WAITS = (
    "has another request whose outcome is not known yet: it waits for it, once approved"
    f" {APPROVAL_VALID_IN_WORDS} at most"
)
_IN_DOUBT = "has another request whose outcome is not known yet: see what became of it first"
_SIMILAR = "has the same request already within 24 hours"
_TWIN = "shares its name or reference with another row"


def summary(cls: type[Operation], rows: int, total_usd: Decimal) -> str:
    cards = "1 card" if rows == 1 else f"{rows} cards"
    return cls.of_many().summary(cards, total_usd)


def lines(cls: type[Operation], rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
    """What the whole batch does, from the facts kept with it or read again."""
    return [("Rows", str(rows)), *cls.of_many().lines(rows, total_usd, facts)]


def concerns(
    cls: type[Operation], rows: int, total_usd: Decimal, facts: Facts, *, left_out: Collection[int] = ()
) -> list[Concern]:
    """Of the batch as a whole and of its rows; `left_out` are the numbers of rows no longer asked for."""
    of_rows = row_concerns(facts, left_out=left_out)
    return cls.of_many().concerns(rows, total_usd, facts, of_rows)


@dataclass(frozen=True, slots=True)
class RowWarning:
    """One warning of one row: the row's number in the list, what the row is called, and what is said of it."""

    row: int
    name: str
    text: str

    @property
    def sentence(self) -> str:
        return f"{self.row}. {self.name} {self.text}."


async def look(
    tx: Tx, operations: Mapping[int, Operation], program: str, *, but: Collection[str] = ()
) -> tuple[list[dict[str, Any]], list[RowWarning]]:
    """The facts of each row by our own records, and the warnings that follow; rows by their number in the list.

    `but`: ids of requests that are these very rows.
    """
    twins = _twins(operations)
    by_row, found = [], []
    for number, operation in operations.items():
        entry = await cards.get(tx, operation.subject) if operation.has_card else None
        facts = await drafts.on_target(tx, operation, program, but=but)
        texts = _texts(operation, entry.status if entry else None, facts, is_twin=number in twins)
        by_row.append(facts)
        found += [RowWarning(number, _name(operation), text) for text in texts]
    return by_row, found


def _name(operation: Operation) -> str:
    return operation.target_label or operation.summary()


def _texts(operation: Operation, status: str | None, facts: Facts, *, is_twin: bool) -> list[str]:
    many = type(operation).of_many()
    listed = (
        (status in _UNUSABLE, _CLOSED),
        (facts["unresolved"], _WAITS if operation.handling.doubts else _IN_DOUBT),
        (facts["similar"], _SIMILAR),
        (is_twin, _TWIN),
        (status == "FROZEN", many.on_frozen),
    )
    return [text for holds, text in listed if holds]


def _twins(operations: Mapping[int, Operation]) -> frozenset[int]:
    """The numbers of rows that share what two of them should not, such as the name on two orders."""
    seen: dict[tuple[str, str], list[int]] = {}
    for number, operation in operations.items():
        for field in type(operation).of_many().twins:
            if operation.values.get(field):
                seen.setdefault((field, operation.values[field]), []).append(number)
    return frozenset(number for alike in seen.values() if len(alike) > 1 for number in alike)


def kept(found: Sequence[RowWarning]) -> list[dict[str, Any]]:
    """The warnings as they are kept with a batch."""
    return [asdict(warning) for warning in found]


def of_facts(facts: Facts, *, left_out: Collection[int] = ()) -> list[RowWarning]:
    """The warnings that are kept with a batch, without those of rows that were left out since."""
    kept_with = (w for w in facts.get("warnings", ()) if not isinstance(w, str))
    return [w for w in (RowWarning(**raw) for raw in kept_with) if w.row not in left_out]


def row_concerns(facts: Facts, *, left_out: Collection[int] = ()) -> list[Concern]:
    """The warnings as people read them, the first ten; a batch of an older version keeps whole sentences."""
    found = of_facts(facts, left_out=left_out)
    sentences = [w for w in facts.get("warnings", ()) if isinstance(w, str)]
    sentences += [warning.sentence for warning in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        sentences.append(f"{len(found) - MOST_LISTED} more warnings are beside their rows.")
    return [Concern(text) for text in sentences]


def by_number(found: Sequence[RowWarning]) -> dict[int, tuple[str, ...]]:
    """What is said of each row, by its number in the list."""
    listed: dict[int, tuple[str, ...]] = {}
    for warning in found:
        listed[warning.row] = (*listed.get(warning.row, ()), warning.text)
    return listed


def changes(before: Sequence[RowWarning], now: Sequence[RowWarning]) -> tuple[str, ...]:
    """What is so now and was not at the submission, and what no longer is, in sentences."""
    new = [warning.sentence for warning in now if warning not in before]
    over = [f"{w.row}. {w.name}: no longer so that it {w.text}." for w in before if w not in now]
    listed = [*new, *over]
    rest = [f"and {len(listed) - MOST_LISTED} more"] if len(listed) > MOST_LISTED else []
    return (*listed[:MOST_LISTED], *rest)
