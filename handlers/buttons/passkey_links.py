"""The buttons that lead to the page for passkeys, and the window in Slack that waits for what comes of it."""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.services.passkeys import page
from handlers.guard import Turn
from handlers.slack_api import code_of
from handlers.views import blocks, ids

log = logging.getLogger("countersign.handlers")


async def pressed(turn: Turn) -> None:
    """Slack reports that somebody opened the page; the browser does the rest."""
    await turn.ack()


async def follow(slack: AsyncWebClient, done: page.Done) -> None:
    """Show what came of it in the window that waits for it. A window that was closed needs nothing."""
    if not done.view_id:
        return
    view = blocks.modal(ids.NOTICE, done.title, [blocks.plain_section(f"✓ {done.text}")])
    try:
        await slack.views_update(view_id=done.view_id, view=view)
    except SlackApiError as error:
        log.info("handlers.window_closed", extra={"view": done.view_id, "error": code_of(error)})
    except Exception:  # it is recorded, whatever Slack does now
        log.warning("handlers.window_not_updated", exc_info=True)
