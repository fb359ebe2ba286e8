"""Requests and what belongs to them: drafts, decisions, attempts, confirmations, links to card details.

Every change is guarded by the version or the fence that the caller saw.
"""

from storage.requests.before_sending import Kept
from storage.requests.card_details_links import Reveal
from storage.requests.confirmations import Consent
from storage.requests.drafts import Draft
from storage.requests.held import Held

__all__ = [
    "Consent",
    "Draft",
    "Held",
    "Kept",
    "Reveal",
    "as_on_record",
    "attempts",
    "before_sending",
    "card_details_links",
    "confirmations",
    "decisions",
    "drafts",
    "held",
    "lost_debits",
    "request_search",
    "requests",
    "unseen",
]
