"""A message without any layout, for what cannot be shown as it should be."""

from __future__ import annotations

from bot.view_models import PlainView
from handlers.views import blocks as b


def message(picture: PlainView) -> b.Block:
    """Text alone: there is nothing in it that Slack could refuse. No blocks, so an edit takes the old ones away."""
    return {"text": f"{picture.text}\n{b.esc(picture.note)}", "blocks": []}
