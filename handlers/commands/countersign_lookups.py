"""`/countersign`: the look-ups about Countersign itself: who decides, what is open, where events go."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.operations import Operation
from bot.services.core import Core
from bot.services.events import webhook_status
from bot.services.overview import policy_lookups
from handlers.commands import alert_lookups
from handlers.commands.lookup import Asking, LookUp
from handlers.views import Block, help_text
from handlers.views.lookups import webhook


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
    return help_text.policy(policy_lookups.policy_picture(asked.core))


async def _alerts(asked: Asking) -> Block:
    return await alert_lookups.answer(asked.core, asked.slack_id, asked.command.rest)


async def _webhook(asked: Asking) -> Block:
    return webhook.answer(await webhook_status.look(asked.core, asked.slack_id, asked.program))


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
)
