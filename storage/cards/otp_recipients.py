"""Who in Slack gets the one-time codes of the cards with a `partner_ref`."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import select

from storage import tables as t
from storage.protection import CODE_RECIPIENT, signed_rows
from storage.transaction import Tx
from storage.upsert import upsert


async def person_of(tx: Tx, partner_ref: str) -> str | None:
    """The Slack id of the person; None where nobody is named, or the row is not as we left it."""
    asked = select(t.person_card).where(t.person_card.c.partner_ref == partner_ref)
    row = (await tx.run(asked)).mappings().one_or_none()
    is_ours = await signed_rows.is_ours(tx, CODE_RECIPIENT, partner_ref, row)
    if row is None or not is_ours:
        return None
    return str(row["slack_id"])


async def all(tx: Tx) -> list[tuple[str, str]]:  # noqa: A001  read as `person_cards.all`
    """Every reference with the Slack id of its person; rows that are not as we left them are left out."""
    rows = (await tx.run(select(t.person_card).order_by(t.person_card.c.partner_ref))).mappings().all()
    return [(row["partner_ref"], row["slack_id"]) for row in await signed_rows.ours(tx, CODE_RECIPIENT, rows)]


async def put(tx: Tx, partner_ref: str, slack_id: str) -> None:
    """Whoever it was before: what is stored, and was changed by somebody else, counts for nothing anyway."""
    row = {"partner_ref": partner_ref, "slack_id": slack_id}
    await upsert(tx, t.person_card, [row], key=("partner_ref",))
    await signed_rows.sign_as(tx, CODE_RECIPIENT, partner_ref, row)


async def drop(tx: Tx, partner_ref: str) -> bool:
    """False when nobody was named. Where somebody took the row out, they were."""
    return await signed_rows.drop(tx, CODE_RECIPIENT, partner_ref)


async def refs(tx: Tx) -> dict[str, str]:
    """The one `partner_ref` of each Slack id; people with several are left out."""
    rows = await all(tx)
    count = Counter(slack_id for _, slack_id in rows)
    return {slack_id: partner_ref for partner_ref, slack_id in rows if count[slack_id] == 1}
