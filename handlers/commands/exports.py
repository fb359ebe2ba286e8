"""`/countersign export KIND PERIOD`: rows as CSV files in the person's direct messages.

The message that says it has begun is edited while it runs, and ends with what was sent.
"""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError

from bot.domain.errors import NotFound
from bot.domain.time import USAGE
from bot.services.overview import KINDS, ExportSpec, exports
from bot.services.people import Role
from bot.services.requests import resolve_card
from handlers.commands.lookup import Asking, LookUp
from handlers.guard import Turn
from handlers.slack_api import code_of, retry_after_s
from handlers.views import Block
from handlers.views.lookups import exports as views

log = logging.getLogger("countersign.handlers")

_HOW = (
    f"Write /countersign export KIND PERIOD. KIND is one of {', '.join(KINDS)}; transactions may name a card before"
    f" the period. PERIOD is {USAGE}."
)
# Longer than this Slack's rate limit is not waited for.
_MOST_PATIENCE_S = 60.0


async def answer(asked: Asking) -> Block:
    """Says that it has begun; the files follow. Raises NotFound, NotAllowed."""
    spec = await _spec(asked)
    await exports.require_exporter(asked.core, asked.slack_id, spec)
    asked.turn.after(_run(asked.turn, spec))
    return views.begun(spec.kind, spec.period)


async def _spec(asked: Asking) -> ExportSpec:
    kind, _, _ = asked.rest.partition(" ")
    kind = kind.lower()
    head, period = asked.period()
    card = head[len(kind) :].strip()
    if kind not in KINDS or period is None or (card and kind != "transactions"):
        raise NotFound(_HOW)
    if not card:
        return ExportSpec(kind, period, asked.program)
    async with asked.core.store.read() as tx:
        entry = await resolve_card(tx, card)
    return ExportSpec(kind, period, entry.program, entry)


async def _run(turn: Turn, spec: ExportSpec) -> None:
    opened = await turn.client.conversations_open(users=turn.user)
    letters = _Letters(turn, spec, str(opened["channel"]["id"]))
    await letters.begin()
    try:
        sent = await exports.export(turn.core, turn.user, spec, letters)
    except Exception as error:  # noqa: BLE001  what went wrong belongs into the message that shows progress
        await letters.end(views.stopped(spec.kind, letters.files, turn.sentence(error)))
        return
    await letters.end(views.done(spec.kind, spec.period, KINDS[spec.kind].source, sent.rows, sent.sha256))


class _Letters:
    """An `exports.Receiver`: a direct message that is edited, and files beside it."""

    def __init__(self, turn: Turn, spec: ExportSpec, channel: str) -> None:
        self.files = 0
        self._turn = turn
        self._spec = spec
        self._channel = channel
        self._ts = ""

    async def begin(self) -> None:
        posted = await self._turn.client.chat_postMessage(
            channel=self._channel, **views.running(self._spec.kind, self._spec.period, 0)
        )
        self._ts = str(posted["ts"])

    async def progress(self, rows: int) -> None:
        """A figure that does not get through is worth no delay: the next one will, or the end."""
        try:
            await self._edit(views.running(self._spec.kind, self._spec.period, rows))
        except SlackApiError as error:
            log.info("handlers.progress_not_shown", extra={"error": code_of(error)})

    async def file(self, part: exports.Part) -> None:
        try:
            await self._upload(part)
        except SlackApiError as error:
            wait_s = retry_after_s(error)
            if wait_s is None or wait_s > _MOST_PATIENCE_S:
                raise
            await self._turn.core.clock.sleep(wait_s)
            await self._upload(part)
        self.files += 1

    async def _upload(self, part: exports.Part) -> None:
        await self._turn.client.files_upload_v2(
            channel=self._channel, filename=part.name, title=part.name, content=part.content
        )

    async def end(self, said: Block) -> None:
        """The last word, in place of the figures; where it cannot be edited, as a message of its own."""
        try:
            await self._edit(said)
        except SlackApiError as error:
            log.info("handlers.not_edited", extra={"error": code_of(error)})
            await self._turn.client.chat_postMessage(channel=self._channel, **said)

    async def _edit(self, said: Block) -> None:
        await self._turn.client.chat_update(channel=self._channel, ts=self._ts, **said)


LOOK_UPS = (
    LookUp(
        ("countersign", "export"),
        answer,
        "/countersign export KIND PERIOD",
        f"{', '.join(KINDS)} as CSV, in a direct message",
        role=Role.APPROVER_OR_ADMIN,
        group="on duty",
    ),
)
