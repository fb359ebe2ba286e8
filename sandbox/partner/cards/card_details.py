"""Card details: the page to embed and the single-use token (Card details).

Number and security code are worked out from the seed when asked for and stored nowhere; of an address
only a digest is kept.
"""

from __future__ import annotations

import hashlib
import html
from datetime import timedelta
from typing import Any, Literal

from sandbox.partner import codec
from sandbox.partner.cards import cards
from sandbox.partner.cards.cards import Card
from sandbox.partner.state import World, stamp_now

PAGE_PATH, EXCHANGE_PATH = "/card-details/", "/pan-exchange/"
PAGE_SECONDS, TOKEN_SECONDS = 600, 60
_VALID_YEARS = 4
Purpose = Literal["page", "exchange"]


def page_address(world: World, card: Card, origin: str) -> str:
    """Make a new address of the page to embed, below `origin`, for `PAGE_SECONDS` (GET /cards/{cardId}/pan)."""
    return origin + PAGE_PATH + _mint(world, card, "page", PAGE_SECONDS)


def exchange_address(world: World, card: Card, origin: str) -> str:
    """Make a new address of the exchange, below `origin`; it works once, within `TOKEN_SECONDS` (POST pan-token)."""
    return origin + EXCHANGE_PATH + _mint(world, card, "exchange", TOKEN_SECONDS)


def _mint(world: World, card: Card, purpose: Purpose, seconds: int) -> str:
    token = world.ids.token()
    expires_at = codec.stamp(world.clock.now() + timedelta(seconds=seconds))
    world.store.insert(
        "detail_links", digest=_digest(token), card_id=card.id, purpose=purpose, expires_at=expires_at, used=0
    )
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def expiry(card: Card) -> tuple[int, int]:
    """Return month and year in which the card expires."""
    return int(card.created_at[5:7]), int(card.created_at[:4]) + _VALID_YEARS


def _card_behind(world: World, token: str, purpose: Purpose) -> Card | None:
    row = world.store.one(
        "SELECT * FROM detail_links WHERE digest = ? AND purpose = ? AND used = 0", _digest(token), purpose
    )
    if row is None or row["expires_at"] <= stamp_now(world):
        return None
    return cards.find(world, row["card_id"])


def exchange(world: World, token: str, *, burn: bool = True) -> tuple[int, Any]:
    """Status and body of the exchange; whoever asks first burns the token (R145, R147), with `burn`."""
    card = _card_behind(world, token, "exchange")
    if card is None:
        return 404, {"error": "The token is expired, used or not one of ours.", "code": "NOT_FOUND"}
    if burn:
        world.store.update("detail_links", "digest", _digest(token), used=1)
    if not card.details_available:
        return 502, {"error": "Card details are not available now.", "code": "UNAVAILABLE"}
    pan, cvv = world.ids.pan(card.id, card.last4)
    month, year = expiry(card)
    return 200, {"data": {"pan": pan, "cvv": cvv, "expiry_month": month, "expiry_year": year}}


def page(world: World, token: str) -> str | None:
    """The page to embed; None when the address is expired or tampered with: plain text then (R149)."""
    card = _card_behind(world, token, "page")
    if card is None:
        return None
    pan, cvv = world.ids.pan(card.id, card.last4)
    month, year = expiry(card)
    spaced = " ".join(pan[at : at + 4] for at in range(0, len(pan), 4))
    shown = {
        "HOLDER": card.card_holder_name,
        "PAN": spaced,
        "CVV": cvv,
        "EXPIRY": f"{month:02d}/{year % 100:02d}",
    }
    text = _PAGE
    for name, value in shown.items():
        text = text.replace(f"%{name}%", html.escape(value))
    return text


# Without allow=clipboard-write on the frame the copy control does nothing at all (Embedding contract).
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Card details</title>
<style>
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #f4f7f6; background: #12343b; }
main { padding: 18px 20px; display: grid; gap: 10px; }
#pan { font: 600 20px/1.3 ui-monospace, Menlo, monospace; letter-spacing: .04em; white-space: nowrap; }
dl { display: flex; gap: 28px; margin: 0; } dt { font-size: 12px; opacity: .75; } dd { margin: 0; }
button { justify-self: start; font: inherit; padding: 5px 12px; border-radius: 8px; border: 0; cursor: pointer; }
</style>
<main>
  <span>%HOLDER%</span>
  <span id="pan">%PAN%</span>
  <dl><div><dt>Expires</dt><dd>%EXPIRY%</dd></div><div><dt>Security code</dt><dd>%CVV%</dd></div></dl>
  <button type="button" id="copy">Copy card number</button>
</main>
<script>
const policy = document.permissionsPolicy ?? document.featurePolicy;
const tell = (ok) => {
  if (window.parent !== window) window.parent.postMessage({ type: "svc-card-copy-result", ok }, "*");
};
document.getElementById("copy").addEventListener("click", async () => {
  if (policy && !policy.allowsFeature("clipboard-write")) return;
  try {
    await navigator.clipboard.writeText(document.getElementById("pan").textContent.replaceAll(" ", ""));
    tell(true);
  } catch {
    tell(false);
  }
});
</script>
</html>
"""
