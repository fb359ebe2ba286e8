"""All that the database says of a request just before it is sent, in one statement.

The request with its frozen body, the decisions on it, what stands in the way of sending to its program, and the
requests on the same target whose outcome is not known.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, select

from bot.domain.requests import Decision, Request, State
from bot.partner.endpoints import Endpoint
from storage import tables as t
from storage.log_record import KEPT_FOR, Count, Counted
from storage.operators import Stopped, stops
from storage.requests import requests, unseen
from storage.requests.frozen import Frozen, opened
from storage.requests.request_search import COLUMNS
from storage.transaction import Tx
from storage.vault import Sealed

_WAITED_FOR = (State.EXECUTING, State.UNRESOLVED)
_R, _D, _OTHER = t.request.c, t.decision.c, t.request.alias("other")
_DECISION = tuple(_D[name].label(f"decision_{name}") for name in Decision.__slots__)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a request, as one moment shows it.

    `others` are ids: of the kinds that were asked for, on the same target, sent and without a known outcome.
    `is_unseen`: a start did not see its message in Slack, or that of its list, so nothing more is sent of it.
    `is_held`: somebody stopped it, which could not be recorded; the database does not say so.
    """

    request: Request
    decisions: list[Decision]
    stopped: Stopped
    others: tuple[str, ...]
    is_unseen: bool
    _sealed: tuple[Sealed | None, Sealed | None]
    is_held: bool = False

    def may_be_sent(self, endpoint: Endpoint, *, is_urgent: bool) -> bool:
        """May this call be made for it now? A look is no such call. An unseen message stops nothing urgent."""
        sends = not self.is_held and self.stopped.sends(endpoint, is_urgent=is_urgent)
        return sends and (is_urgent or not self.is_unseen)

    def frozen(self, tx: Tx) -> Frozen:
        """Raises `Purged` when the details were dropped, `CannotOpen` when they were tampered with."""
        return opened(tx, self.request.id, *self._sealed)


async def of(tx: Tx, request_id: str, *, others: Collection[str] | None) -> Kept | None:
    """None for a request that there is not. `others`: the kinds of requests that it may wait for, None = all."""
    asked = _asked(with_kinds=others is not None)
    kinds = {} if others is None else {"kinds": list(others)}
    rows = (await tx.run(asked, {"id": request_id, **kinds})).all()
    if not rows:
        return None
    first, width = rows[0], len(COLUMNS)
    request = Request(*first[:width])
    made = {row.decision_id: _decision(row) for row in rows if row.decision_id is not None}
    seen = [row._mapping for row in rows]
    if first.program_name is None:
        stopped = await stops.of(tx, request.program)
    else:
        stopped = stops.stopped(tx, request.program, seen)
    found = {row.other_id for row in rows if row.other_id is not None}
    sealed = (first.sealed_private, first.sealed_body)
    is_unseen = first.is_unseen or unseen.cannot_be_read(tx, request.parent_id or request.id)
    return Kept(request, list(made.values()), stopped, tuple(sorted(found)), is_unseen, sealed)


def lean_on_others(tx: Tx, kept: Kept, *, kinds: Collection[str] | None) -> None:
    """It is sent as none of these kinds waits on its target (`others`, None = all): that is held against the audit log.

    By the log of two days; what has been in doubt for longer is watched by its row alone.
    """
    request = kept.request
    if not request.subject:
        return

    def counts(one: Counted) -> bool:
        is_there = (one.program, one.subject) == (request.program, request.subject)
        return is_there and one.state in _WAITED_FOR and (kinds is None or one.kind in kinds)

    async def again() -> dict[str, bool]:
        row = t.request.c
        there = (row.program == request.program, row.subject == request.subject, row.rows.is_(None))
        of_kinds = [] if kinds is None else [row.kind.in_(list(kinds))]
        wanted = select(row.id).where(*there, row.state.in_(_WAITED_FOR), *of_kinds)
        return dict.fromkeys((await tx.run(wanted)).scalars(), True)

    found = dict.fromkeys(kept.others, True)
    requests.lean_on(tx, Count(tx.now - KEPT_FOR, counts, lambda _: True, found, again))


def _decision(row: Any) -> Decision:
    return Decision(**{name: row._mapping[f"decision_{name}"] for name in Decision.__slots__})


@cache
def _asked(*, with_kinds: bool) -> Select[Any]:
    other = _OTHER.c
    on_target = [
        other.subject == _R.subject,
        _R.subject != "",
        other.program == _R.program,
        other.state.in_(_WAITED_FOR),
        other.rows.is_(None),
        other.id != _R.id,
    ]
    if with_kinds:
        on_target.append(other.kind.in_(bindparam("kinds", expanding=True)))
    joined = (
        stops.joined(t.request.outerjoin(t.program, t.program.c.name == _R.program))
        .outerjoin(t.decision, _D.request_id == _R.id)
        .outerjoin(_OTHER, and_(*on_target))
    )
    return (
        select(
            *COLUMNS,
            _R.sealed_private,
            _R.sealed_body,
            *stops.COLUMNS,
            *_DECISION,
            other.id.label("other_id"),
            unseen.is_held().label("is_unseen"),
        )
        .select_from(joined)
        .where(_R.id == bindparam("id"))
        .order_by(_D.decided_at, _D.id)
    )
