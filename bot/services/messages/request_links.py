"""Addresses of our messages in Slack, by which a request id becomes a link.

They are built from what is recorded of each message, in the form that `chat.getPermalink` answers with, so that a
list of a hundred requests asks Slack for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bot.services import message_kinds as kinds
from bot.services.core import Core
from storage.messages import outbox


def address(core: Core, place: outbox.MessagePlace | None) -> str:
    """The address of a message; empty where there is none yet, or Slack has not said which workspace this is."""
    workspace = core.directory.workspace_url
    if place is None or not workspace:
        return ""
    return f"{workspace.rstrip('/')}/archives/{place.channel}/p{place.ts.replace('.', '')}"


async def of(core: Core, request_ids: Collection[str]) -> Mapping[str, str]:
    """The addresses of these requests' messages, by request id; those without a message are left out."""
    if not request_ids or not core.directory.workspace_url:
        return {}
    subjects = {kinds.stored_subject(kinds.REQUEST_CARD.about, found): found for found in request_ids}
    async with core.store.read() as tx:
        places = await outbox.places(tx, tuple(subjects), kinds.REQUEST_CARD.form)
    return {subjects[subject]: address(core, place) for subject, place in places.items()}
