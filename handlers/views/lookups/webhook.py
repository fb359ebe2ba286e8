"""`/countersign webhook`: the registration, with the two requests that change it."""

from __future__ import annotations

from bot.view_models import WebhookView
from handlers.views import blocks as b
from handlers.views import ids

_SECRETS = {
    "current": "stored here, encrypted",
    "lost": "lost: your card provider signs with one that Countersign does not have. Rotate it",
    "none": "none is stored here. Register the webhook, or rotate the secret",
}


def answer(found: WebhookView) -> b.Block:
    """Where events go; admins get the buttons, each of which opens the form of a two-person request."""
    url = found.url or "not registered"
    lines = [
        ("Events go to", url),
        ("Countersign's address", found.our_url or "none: COUNTERSIGN_PUBLIC_URL is not set"),
    ]
    lines.append(("Signing secret", _SECRETS[found.signing]))
    parts = []
    if found.updated_at:
        parts.append(f"registration changed {b.when(found.updated_at)}")
    if found.signing == "current" and found.secret_since:
        parts.append(f"secret since {b.when(found.secret_since)}")
    last = f"last delivery {b.when(found.last_delivery_at)}" if found.last_delivery_at else "no delivery yet"
    parts += [last, f"{'LIVE' if found.live else 'SANDBOX'} ({b.esc(found.program)})"]
    blocks = [b.header("Webhook"), *b.pairs(lines), b.context(" · ".join(parts))]
    if found.url and found.our_url and found.url != found.our_url:
        blocks.append(b.section("*▲ Events go to another address, not to Countersign.*"))
    blocks.append(
        _buttons(found)
        if found.may_change
        else b.context("Admins can register the webhook and rotate its secret.")
    )
    return b.message(f"Webhook of {b.esc(found.program)}: {b.esc(url)}", blocks)


def _buttons(found: WebhookView) -> b.Block:
    buttons = [
        b.button(
            "Register",
            f"{ids.OPEN_FORM}:webhook_register",
            ids.typed(f"countersign webhook register {found.program}"),
        )
    ]
    if found.url:
        rotate = ids.typed(f"countersign webhook rotate {found.program}")
        buttons.append(b.button("Rotate secret", f"{ids.OPEN_FORM}:webhook_rotate", rotate))
    return b.actions(buttons, "webhook")
