"""`/countersign alerts`: what is open. For admins also `mute NAME KIND [ABOUT] [7d]`, `unmute NAME`, and
`code REFERENCE @person`, which is `/countersign people map`."""

from __future__ import annotations

import re
from datetime import timedelta

from bot.domain.errors import NotFound
from bot.services.alerts import alert_actions
from bot.services.core import Core
from handlers.commands import otp_recipients
from handlers.views import Block, alerts, replies

_LASTS = re.compile(r"([1-9][0-9]{0,3})([hd])")
_HOW = (
    "Write /countersign alerts, alerts mute NAME KIND [ABOUT] [7d], alerts unmute NAME, or alerts code"
    " REFERENCE @person."
)


async def answer(core: Core, slack_id: str, rest: str) -> Block:
    """Raises NotFound and NotAllowed with what to do instead."""
    words = rest.split()
    if not words:
        return alerts.open_alerts(await alert_actions.shown(core))
    if words[0] == "unmute" and len(words) == 2:
        await alert_actions.unmute(core, slack_id, words[1])
        return replies.said(f"The mute rule {words[1]} is ended; what is open is posted.")
    if words[0] == "mute" and len(words) >= 3:
        return await _mute(core, slack_id, words[1], words[2], words[3:])
    if words[0] == "code" and len(words) >= 3:
        return await otp_recipients.named(core, slack_id, words[1:])
    raise NotFound(_HOW)


async def _mute(core: Core, slack_id: str, name: str, kind: str, more: list[str]) -> Block:
    match = _LASTS.fullmatch(more[-1]) if more else None
    lasts = None
    if match:
        lasts = timedelta(**{{"h": "hours", "d": "days"}[match[2]]: int(match[1])})
        more = more[:-1]
    try:
        await alert_actions.mute(core, slack_id, name=name, kind=kind, about=" ".join(more), lasts=lasts)
    except ValueError as wrong:
        raise NotFound(f"{wrong} {_HOW}") from None
    about = f" about {' '.join(more)}" if more else ""
    end = f" for {match[0]}" if match else " until somebody ends it"
    return replies.said(
        f"The rule {name} mutes alerts of the kind {kind}{about}{end}. They are kept and not posted."
    )
