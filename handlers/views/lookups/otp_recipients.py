"""Who gets one-time codes, as admins see it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.view_models import CodePerson
from handlers.views import blocks as b

_SHOWN = 40


def code_people(found: Sequence[CodePerson]) -> b.Block:
    """`/countersign people`: reference, cards, person."""
    head = f"{b.counted(len(found), 'reference')} with a person for one-time codes"
    blocks = [b.header(head)]
    lines = [
        f"• {b.esc(p.partner_ref)} → {b.mention(p.slack_id)}"
        f" · {b.esc(b.cut(', '.join(p.holders[:3]), 160)) or 'no open card'}"
        for p in found[:_SHOWN]
    ]
    blocks += [b.section("\n".join(lines[start : start + 10])) for start in range(0, len(lines), 10)]
    if len(found) > _SHOWN:
        blocks.append(b.context(f"and {len(found) - _SHOWN} more"))
    blocks.append(
        b.context(
            "`/countersign people map REFERENCE @person` requests a change, which a second person confirms;"
            " `people unmap REFERENCE` ends it immediately."
        )
    )
    return b.message(head, blocks)
