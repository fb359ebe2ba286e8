"""The five slash commands: a look-up is answered, a request opens its form."""

from __future__ import annotations

from handlers.commands import dispatch, grammar, open_forms
from handlers.commands.lookup import Command
from handlers.guard import Turn


async def command(turn: Turn) -> None:
    """`/card`, `/float`, `/funding`, `/requests`, `/countersign`."""
    asked = grammar.from_slash(turn.body["command"], turn.body.get("text") or "")
    cls = asked.kind(turn.core.kinds)
    await turn.ack()
    turn.after(open_forms.open_from_command(turn, cls, asked.rest) if cls else _answer(turn, asked))


async def _answer(turn: Turn, asked: Command) -> None:
    await turn.tell(await dispatch.answer(turn, asked))
