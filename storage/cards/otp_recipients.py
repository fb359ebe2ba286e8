"""Who in Slack gets the one-time codes of the cards with a `partner_ref`."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import delete, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import upsert


async def person_of(tx: Tx, partner_ref: str) -> str | None:
    """The Slack id of the person, or None where nobody is named."""
    asked = select(t.person_card.c.slack_id).where(t.person_card.c.partner_ref == partner_ref)
    return (await tx.run(asked)).scalar_one_or_none()


async def all(tx: Tx) -> list[tuple[str, str]]:  # noqa: A001  read as `person_cards.all`
    """Every reference with the Slack id of its person."""
    asked = select(t.person_card.c.partner_ref, t.person_card.c.slack_id)
    rows = (await tx.run(asked.order_by(t.person_card.c.partner_ref))).all()
    return [(row.partner_ref, row.slack_id) for row in rows]


async def put(tx: Tx, partner_ref: str, slack_id: str) -> None:
    await upsert(
        tx, t.person_card, [{"partner_ref": partner_ref, "slack_id": slack_id}], key=("partner_ref",)
    )


async def drop(tx: Tx, partner_ref: str) -> bool:
    """False when nobody was named."""
    mine = delete(t.person_card).where(t.person_card.c.partner_ref == partner_ref)
    return bool((await tx.run(mine)).rowcount)


async def refs(tx: Tx) -> dict[str, str]:
    """The one `partner_ref` of each Slack id; people with several are left out."""
    rows = (await tx.run(select(t.person_card.c.slack_id, t.person_card.c.partner_ref))).all()
    count = Counter(row.slack_id for row in rows)
    return {row.slack_id: row.partner_ref for row in rows if count[row.slack_id] == 1}
