"""Card details: the page to embed and the single-use token (Card details).

Number and security code are worked out from the seed when asked for and stored nowhere; of an address
only a digest is kept.
"""

from __future__ import annotations

import hashlib
import html
from datetime import timedelta
from typing import Any, Literal

from sandbox.partner import cards, codec
from sandbox.partner.calls import Call, processor
from sandbox.partner.cards import Card
from sandbox.partner.http import Answer, unavailable
from sandbox.partner.state import World, stamp_now

PAGE_PATH, EXCHANGE_PATH = "/card-details/", "/pan-exchange/"
PAGE_SECONDS, TOKEN_SECONDS = 600, 60
_VALID_YEARS = 4
Purpose = Literal["page", "exchange"]


async def read_pan(call: Call) -> Answer:
    """GET /cards/{cardId}/pan: a new address each time; the card's status is not looked at."""
    card = cards.of_call(call)
    processor.must_agree(call)
    if not card.details_available:
        raise unavailable(502, "The card processor returned no details address.")
    month, year = _expiry(card) if card.expiry_known else (None, None)
    address = call.world.origin + PAGE_PATH + _mint(call.world, card, "page", PAGE_SECONDS)
    found = {"details_url": address, "expiration_month": month, "expiration_year": year}
    return Answer.of({"card_id": card.id, **found})


async def mint_pan_token(call: Call) -> Answer:
    """POST /cards/{cardId}/pan-token: for the cardholder's device, once, within a minute."""
    card = cards.of_call(call)
    processor.must_agree(call)
    address = call.world.origin + EXCHANGE_PATH + _mint(call.world, card, "exchange", TOKEN_SECONDS)
    return Answer.of({"url": address, "expires_in": TOKEN_SECONDS, "single_use": True})


def _mint(world: World, card: Card, purpose: Purpose, seconds: int) -> str:
    token = world.ids.token()
    expires_at = codec.stamp(world.clock.now() + timedelta(seconds=seconds))
    world.store.insert(
        "detail_links", digest=_digest(token), card_id=card.id, purpose=purpose, expires_at=expires_at, used=0
    )
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _expiry(card: Card) -> tuple[int, int]:
    return int(card.created_at[5:7]), int(card.created_at[:4]) + _VALID_YEARS


def _card_behind(world: World, token: str, purpose: Purpose) -> Card | None:
    row = world.store.one(
        "SELECT * FROM detail_links WHERE digest = ? AND purpose = ? AND used = 0", _digest(token), purpose
    )
    if row is None or row["expires_at"] <= stamp_now(world):
        return None
    return cards.find(world, row["card_id"])


def exchange(world: World, token: str) -> tuple[int, Any]:
    """Status and body of the exchange; whoever asks first burns the token (R145, R147)."""
    card = _card_behind(world, token, "exchange")
    if card is None:
        return 404, {"error": "The token is expired, used or not one of ours.", "code": "NOT_FOUND"}
    world.store.update("detail_links", "digest", _digest(token), used=1)
    if not card.details_available:
        return 502, {"error": "Card details are not available now.", "code": "UNAVAILABLE"}
    pan, cvv = world.ids.pan(card.id, card.last4)
    month, year = _expiry(card)
    return 200, {"data": {"pan": pan, "cvv": cvv, "expiry_month": month, "expiry_year": year}}


def page(world: World, token: str) -> str | None:
    """The page to embed; None when the address is expired or tampered with: plain text then (R149)."""
    card = _card_behind(world, token, "page")
    if card is None:
        return None
    pan, cvv = world.ids.pan(card.id, card.last4)
    month, year = _expiry(card)
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
