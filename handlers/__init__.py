"""Slack's side of Countersign: parse what came, call a service, draw the answer.

`register` is the table of contents. Every listener answers Slack first and works afterwards; nothing here
decides, and nothing here is remembered that matters.
"""

from __future__ import annotations

import re

from slack_bolt.app.async_app import AsyncApp

from handlers import buttons, commands, home, modals, safer
from handlers.buttons import alerts, card_details, paging, passkey_links, pause
from handlers.conversation import dialog, messages
from handlers.deps import Deps
from handlers.guard import Seen, guarded
from handlers.modals import batches
from handlers.turns import EventTurns
from handlers.views import ids

__all__ = ["Deps", "register"]

COMMANDS = ("/card", "/float", "/funding", "/requests", "/countersign")


def register(app: AsyncApp, deps: Deps) -> None:
    """Put every listener on the app. Bolt asks them in this order, so the busiest come first."""
    guard = guarded(deps, Seen(deps.core.clock), safer.is_safer)
    app.use(EventTurns().one_of_each_person)

    for name in COMMANDS:
        app.command(name)(guard(commands.command))

    app.action(re.compile("^request:"))(guard(buttons.request))
    app.action(ids.NEW_LINK)(guard(card_details.new_link))
    app.action(ids.PASSKEY_PAGE)(guard(passkey_links.pressed))
    app.action(re.compile("^alert:"))(guard(alerts.pressed))
    app.action(re.compile("^say:"))(guard(dialog.button))
    app.action(re.compile("^sending:"))(guard(pause.pressed))
    app.action(re.compile(f"^{ids.OPEN_FORM}"))(guard(buttons.open_form))
    app.action(ids.EDIT)(guard(buttons.edit))
    app.action(ids.BULK_REVIEW)(guard(batches.review))
    app.action(ids.BULK_LEAVE_OUT)(guard(batches.open_leave_out))
    app.action(re.compile(f"^({ids.BULK_BACK}|{ids.BULK_ON})$"))(guard(batches.turn_page))
    app.action(ids.SHARE)(guard(buttons.share))
    app.action(ids.LOOK)(guard(paging.look))
    app.action(re.compile(f"^{ids.TURN_PAGE}:"))(guard(paging.turn_page))
    app.action(re.compile(".*"))(guard(buttons.anything))

    app.options("value")(guard(modals.cards))

    app.view(ids.FORM)(guard(modals.form))
    app.view(ids.PREVIEW)(guard(modals.preview))
    app.view(ids.BULK_PASTE)(guard(batches.paste))
    app.view(ids.BULK_PREVIEW)(guard(batches.preview))
    app.view(ids.BULK_LEFT_OUT)(guard(batches.left_out))
    app.view(ids.APPROVE)(guard(modals.approve))
    app.view(ids.REJECT)(guard(modals.reject))
    app.view(ids.CANCEL)(guard(modals.cancel))
    app.view(ids.RESOLVE)(guard(modals.resolve))
    app.view(ids.SNOOZE_FORM)(guard(alerts.snooze))
    app.view(ids.PAUSE_FORM)(guard(pause.pause))

    app.shortcut(ids.ASK_ABOUT)(guard(dialog.ask_about))

    app.event("app_mention")(guard(messages.mention))
    app.event("message")(guard(messages.direct_message))
    app.event("app_home_opened")(guard(home.opened))
    app.event("subteam_members_changed")(guard(home.members_changed))
