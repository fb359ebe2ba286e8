"""`/countersign`: the look-ups about Countersign itself: who decides, what is open, where events go."""

from __future__ import annotations

import re
from datetime import timedelta

from bot.domain.errors import NotFound
from bot.domain.passkeys import Purpose
from bot.operations import Operation
from bot.services.alerts import alert_actions
from bot.services.core import Core
from bot.services.events import webhook_status
from bot.services.overview import alert_list, policy_lookups
from bot.services.passkeys import enrolment
from handlers.commands import otp_recipients
from handlers.commands.lookup import Asking, LookUp, mentioned
from handlers.views import Block, alerts, help_text, passkeys, replies
from handlers.views.lookups import webhook

_LASTS = re.compile(r"([1-9][0-9]{0,3})([hd])")
_HOW_ALERTS = (
    "Write /countersign alerts, alerts mute NAME KIND [ABOUT] [7d], alerts unmute NAME, or alerts code"
    " REFERENCE @person."
)


async def _who(asked: Asking) -> Block:
    kind = _kind_named(asked.core, asked.rest).kind
    return help_text.who(await policy_lookups.who(asked.core, kind, asked.slack_id))


def _kind_named(core: Core, text: str) -> type[Operation]:
    """`topup`, `card topup`, `card_topup` or `Top up a card`; raises NotFound with what there is."""
    wanted = text.strip().lower().lstrip("/").replace("_", " ")
    for kind, cls in core.kinds.items():
        named = {
            kind.replace("_", " "),
            " ".join(cls.command),
            cls.command[1],
            cls.title.lower(),
            cls.verb.lower(),
        }
        if wanted in named:
            return cls
    names = ", ".join(" ".join(cls.command) for cls in core.kinds.values())
    raise NotFound(f"Name an operation: /countersign who topup. There are: {names}.")


async def _policy(asked: Asking) -> Block:
    return help_text.policy(policy_lookups.policy_view(asked.core))


async def _alerts(asked: Asking) -> Block:
    """What is open. For admins also `mute`, `unmute`, and `code REFERENCE @person`, which is `people map`."""
    core, slack_id, words = asked.core, asked.slack_id, asked.command.rest.split()
    if not words:
        return alerts.open_alerts(await alert_list.shown(core))
    if words[0] == "unmute" and len(words) == 2:
        await alert_actions.unmute(core, slack_id, words[1])
        return replies.said(f"The mute rule {words[1]} has ended. Open alerts of its kind are posted again.")
    if words[0] == "mute" and len(words) >= 3:
        return await _mute(core, slack_id, words[1], words[2], words[3:])
    if words[0] == "code" and len(words) >= 3:
        return await otp_recipients.named(core, slack_id, words[1:])
    raise NotFound(_HOW_ALERTS)


async def _mute(core: Core, slack_id: str, name: str, kind: str, more: list[str]) -> Block:
    match = _LASTS.fullmatch(more[-1]) if more else None
    lasts = None
    if match:
        lasts = timedelta(**{{"h": "hours", "d": "days"}[match[2]]: int(match[1])})
        more = more[:-1]
    try:
        await alert_actions.mute(core, slack_id, name=name, kind=kind, about=" ".join(more), lasts=lasts)
    except ValueError as wrong:
        raise NotFound(f"{wrong} {_HOW_ALERTS}") from None
    about = f" about {' '.join(more)}" if more else ""
    end = f" for {match[0]}" if match else " until somebody ends it"
    return replies.said(
        f"The rule {name} mutes alerts of the kind {kind}{about}{end}. They are kept and not posted."
    )


async def _webhook(asked: Asking) -> Block:
    return webhook.answer(await webhook_status.look(asked.core, asked.slack_id, asked.program))


_HOW_PASSKEY = (
    "Write /countersign passkey, or after it: add [NAME], name ID NAME, revoke ID, lost [@PERSON]. For example"
    " /countersign passkey add MacBook."
)


async def _passkey(asked: Asking) -> Block:
    """One's own, and who has some; `add`, `name`, `revoke` and `lost` change them."""
    core, slack_id = asked.core, asked.slack_id
    word, _, rest = asked.command.rest.strip().partition(" ")
    words = rest.split()
    match word.lower():
        case "":
            return passkeys.listed(await enrolment.listed(core, slack_id))
        case "add":
            return passkeys.message(Purpose.ADD, await enrolment.begin(core, slack_id, rest))
        case "name" if len(words) >= 2:
            return replies.said(await enrolment.rename(core, slack_id, words[0], " ".join(words[1:])))
        case "revoke" if len(words) == 1:
            return replies.said(await enrolment.revoke(core, slack_id, words[0]))
        case "lost" if len(words) <= 1:
            return replies.said(
                await enrolment.lost(core, slack_id, await _person(core, rest.strip(), slack_id))
            )
    raise NotFound(_HOW_PASSKEY)


async def _person(core: Core, named: str, otherwise: str) -> str:
    """The Slack id of the one person named; `otherwise` where nobody is."""
    if not named:
        return otherwise
    found = await core.directory.members([mentioned(named) or f"@{named.removeprefix('@')}"])
    if len(found) != 1:
        raise NotFound(f"Name one person. {_HOW_PASSKEY}")
    return min(found)


LOOK_UPS = (
    LookUp(
        ("countersign", "who"),
        _who,
        "/countersign who OPERATION",
        "who could approve a request like this from you",
    ),
    LookUp(("countersign", "policy"), _policy, "/countersign policy", "the policy in words", shared=True),
    LookUp(("countersign", "alerts"), _alerts, "/countersign alerts", "what is open"),
    LookUp(
        ("countersign", "webhook"),
        _webhook,
        "/countersign webhook",
        "where events go, and whether they can be verified",
    ),
    LookUp(
        ("countersign", "passkey"),
        _passkey,
        "/countersign passkey [add]",
        "your passkeys: add, name, remove, report as lost",
    ),
)
