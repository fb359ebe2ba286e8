"""The direct message with a one-time link to card details, and what to do when it is lost."""

from __future__ import annotations

from bot.view_models import LinkView
from handlers.views import blocks as b
from handlers.views import ids


def link(view: LinkView) -> b.Block:
    """To the requester alone. The fallback text has no link: that is what phones show, and it may be read aloud."""
    request = view.request
    card = b.esc(request.subject_label)
    time = "{time_secs}"
    text = (
        f"<{view.url.reveal()}|Show the card details of {card}>\nIt works once, until"
        f" {b.when(view.good_until, time)}. Open it yourself, where nobody looks over your shoulder: who has the"
        " link can see the card."
    )
    until = b.when(view.again_until, time)
    blocks = [
        b.header("Your link to the card details"),
        b.section(text),
        b.actions([b.button("New link", ids.NEW_LINK, request.id)], f"reveal:{request.id}"),
        b.context(f"{b.esc(request.id)} · a lost or expired link: *New link*, until {until}"),
    ]
    first = f"{b.money(view.live)} · {b.esc(request.id)}: your link to the card details of {card}"
    return b.message(first, blocks)
