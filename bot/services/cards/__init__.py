"""Cards and their purchases: the directory kept in step with the API, look-ups, and the one-time link to card details.

Reads only, at the API. A card's number and security code never pass through here.
"""

__all__ = [
    "card_choice",
    "card_lookups",
    "card_requests",
    "card_sync",
    "details_link",
    "freezes",
    "purchases",
    "spend",
]
