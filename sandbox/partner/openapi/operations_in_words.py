"""What each operation is called and what it does, in our words, with the section of the API's document it is from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The name of an operation for generated clients, a line, more of it, and the document's section."""

    operation_id: str
    summary: str
    description: str
    section: str


OPERATIONS: dict[str, Words] = {
    "GET /me": Words(
        "get_account", "Read the account", "The key's scopes and rate limit, the card allowance, float and earnings.",
        "Account info",
    ),
    "GET /fees": Words(
        "get_fees", "Read the fee schedule", "All rates are fractions: 0.02 is 2 percent.", "Fee schedule"
    ),
    "PUT /fees": Words(
        "set_markup", "Set the deposit markup",
        "Stored and echoed at 5 decimals. Applies to the next deposit quoted; pending ones keep their rate.",
        "PUT /fees",
    ),
    "GET /ledger": Words(
        "list_ledger", "List the float's movements",
        "Newest first. The sum over all pages is the float's balance. Past the end the list is empty.", "GET /ledger",
    ),
    "POST /cards": Words(
        "order_card", "Order a card",
        "The card starts at zero and pays its first month. Send an Idempotency-Key: without one, a retry after a "
        "timeout can order a second card.", "POST /cards",
    ),
    "GET /cards": Words(
        "list_cards", "List the open cards",
        "Newest first, closed cards left out. A limit out of bounds is brought into them, never refused.", "GET /cards",
    ),
    "GET /cards/{cardId}": Words(
        "get_card", "Read a card and its live balance",
        "Closed cards too. A balance that cannot be read is null, which is unknown and not zero.",
        "GET /cards/{cardId}",
    ),
    "POST /cards/{cardId}/freeze": Words(
        "freeze_card", "Freeze or unfreeze a card",
        "The monthly fee continues while it is frozen. The Idempotency-Key is checked and not used.",
        "POST /cards/{cardId}/freeze",
    ),
    "POST /cards/{cardId}/topup": Words(
        "top_up_card", "Move money from the float to a card",
        "One to one, without a fee. The float is debited before the processor is asked, so an answer of 502 or none "
        "leaves the outcome open: repeat the same key, never with a new one.", "POST /cards/{cardId}/topup",
    ),
    "POST /cards/balances": Words(
        "list_balances", "Read the balances of many cards",
        "With card_ids in their order, without them the whole fleet in pages. Only refresh reads them live.",
        "POST /cards/balances",
    ),
    "POST /cards/{cardId}/unload": Words(
        "unload_card", "Move money from a card back to the float", "Without a fee; the card stays open.",
        "POST /cards/{cardId}/unload",
    ),
    "POST /cards/{cardId}/close": Words(
        "close_card", "Close a card for good",
        "What it holds goes back to the float. The allowance is not given back, and this month's fee stays due.",
        "POST /cards/{cardId}/close",
    ),
    "GET /funding/addresses": Words(
        "list_funding_addresses", "Read where the float can be funded",
        "One entry a network. While any of them cannot be read, none is given.", "GET /funding/addresses",
    ),
    "POST /funding": Words(
        "submit_funding", "Submit the hash of a transfer to the float",
        "Repeating a hash on its network gives the same record. A 200 does not mean that it was credited.",
        "POST /funding",
    ),
    "GET /funding": Words(
        "list_funding", "List the own submissions", "Newest first. The document shows neither query nor envelope.",
        "GET /funding",
    ),
    "GET /funding/{fundingId}": Words(
        "get_funding", "Read a submission", "A claim that another account replaced is no longer found.",
        "GET /funding/{fundingId}",
    ),
    "GET /events": Words(
        "list_events", "List what happened", "Newest first, delivered or not; for backfill after an outage.",
        "GET /events",
    ),
    "POST /events/{eventId}/redeliver": Words(
        "redeliver_event", "Deliver an event again",
        "The same id and bytes on a fresh schedule of attempts.", "POST /events/{eventId}/redeliver",
    ),
    "GET /cards/{cardId}/limits": Words(
        "get_limits", "Read a card's spending limits", "Null is unset.", "GET /cards/{cardId}/limits"
    ),
    "PUT /cards/{cardId}/limits": Words(
        "set_limits", "Set spending limits of a card",
        "Those named change, the others stay. A limit cannot be removed.", "PUT /cards/{cardId}/limits",
    ),
    "PUT /cards/{cardId}/phone": Words(
        "set_phone", "Change the phone that gets one-time codes",
        "For cards in sms mode. The number is never shown again.", "PUT /cards/{cardId}/phone",
    ),
    "PUT /cards/{cardId}/3ds": Words(
        "set_3ds_method", "Send one-time codes to the webhook",
        "A way without return: sms is refused. An endpoint must be registered at this moment.",
        "PUT /cards/{cardId}/3ds",
    ),
    "GET /cards/{cardId}/transactions": Words(
        "list_transactions", "List the purchases of a card",
        "One row a purchase, newest first. A row that cannot be read is left out, while the total still counts it.",
        "GET /cards/{cardId}/transactions",
    ),
    "GET /cards/{cardId}/pan": Words(
        "get_card_details", "Get the page that shows the card's number",
        "To be framed for the cardholder, for 600 seconds. Never log or store the address.", "GET /cards/{cardId}/pan",
    ),
    "POST /cards/{cardId}/pan-token": Words(
        "create_pan_token", "Get an address that gives the card's number once",
        "For the cardholder's device, within 60 seconds. Its first use spends it.", "POST /cards/{cardId}/pan-token",
    ),
    "GET /webhook": Words(
        "get_webhook", "Read the registered endpoint", "Null before the first registration. Never with its secret.",
        "GET /webhook",
    ),
    "PUT /webhook": Words(
        "set_webhook", "Register the endpoint for events, or renew its secret",
        "A secret comes with the first address, with another address and with rotate: true, and only then.",
        "PUT /webhook",
    ),
    "POST /deposits": Words(
        "quote_deposit", "Quote a crypto deposit of an end user",
        "Needs an agreement with deposits. The document does not show the body.", "POST /deposits",
    ),
    "GET /deposits": Words(
        "list_deposits", "List the deposits", "Newest first. The document shows neither query nor envelope.",
        "GET /deposits",
    ),
}  # fmt: skip
