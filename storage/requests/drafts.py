"""Drafts: what a person typed into a form, sealed, between the form and its preview; submitted once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, delete, select

from storage import tables as t
from storage.columns import json_text
from storage.sealed_columns import DRAFT_CONTENT
from storage.transaction import Tx
from storage.upsert import upsert

# What is asked all the time is built once.
_TAKEN = delete(t.draft).where(t.draft.c.id == bindparam("id")).returning(t.draft)
_OLD = delete(t.draft).where(t.draft.c.created_at < bindparam("before"))


@dataclass(frozen=True, slots=True)
class Draft:
    """A filled form. `values` may be personal; `facts` is what was read live for the preview, as JSON.

    `own_accounts`: Slack ids of its owner and of other accounts of theirs, where `run_now` made the preview look.
    """

    id: str
    owner: str
    kind: str
    program: str
    values: Mapping[str, str]
    target_label: str
    reason: str
    run_now: bool
    facts: Mapping[str, Any]
    created_at: datetime
    own_accounts: Sequence[str] = ()


async def put(tx: Tx, draft: Draft) -> None:
    """Keep a draft, over the one of the same id."""
    content = {
        "values": draft.values,
        "target_label": draft.target_label,
        "reason": draft.reason,
        "run_now": draft.run_now,
        "facts": draft.facts,
        "own_accounts": draft.own_accounts,
    }
    row = {
        "id": draft.id,
        "owner": draft.owner,
        "kind": draft.kind,
        "program": draft.program,
        "sealed_content": tx.vault.seal(json_text(content).encode(), DRAFT_CONTENT.ref(draft.id)),
        "created_at": draft.created_at,
    }
    await upsert(tx, t.draft, [row], key=("id",))


async def get(tx: Tx, draft_id: str) -> Draft | None:
    row = (await tx.run(select(t.draft).where(t.draft.c.id == draft_id))).one_or_none()
    return None if row is None else _draft(tx, row)


async def take(tx: Tx, draft_id: str) -> Draft | None:
    """The draft, removed: of two submissions only one gets it."""
    row = (await tx.run(_TAKEN, {"id": draft_id})).one_or_none()
    return None if row is None else _draft(tx, row)


async def drop_old(tx: Tx, *, older_than: timedelta) -> int:
    """Remove drafts nobody submitted; returns how many."""
    return (await tx.run(_OLD, {"before": tx.now - older_than})).rowcount


def _draft(tx: Tx, row: Row[Any]) -> Draft:
    content = json.loads(tx.vault.open(row.sealed_content, DRAFT_CONTENT.ref(row.id)))
    content["own_accounts"] = tuple(content.get("own_accounts", ()))
    return Draft(
        id=row.id, owner=row.owner, kind=row.kind, program=row.program, created_at=row.created_at, **content
    )
