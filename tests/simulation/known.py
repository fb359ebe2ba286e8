"""Broken promises that are known today, each with the number of its defect; the list gets empty as fixes land."""

from __future__ import annotations

import re

from tests.simulation.invariants import Violation

# (defect, rule, pattern of the text)
KNOWN: tuple[tuple[str, str, str], ...] = (
    ("D1", "I-7 true", r"\(card_topup\) is called succeeded; at the API it is (unresolved|in_flight)"),
    ("D1", "two people decided", r"is succeeded against what two people said"),
    ("D2", "I-7 true", r"\(card_order\) is called succeeded; under its key the API has"),
    ("D2", "two people decided", r"against what two people said"),
    ("D4", "the card that was named", r""),
    ("D5", "the newest decision holds", r""),
    # Both left at once after a resume; the older one reads back what the newer one did.
    ("D5", "I-7 true", r"\(card_(un)?freeze\) is called failed, and its call had its effect"),
    ("D6", "I-4 pause", r""),
    ("D6", "I-4 validity", r""),
    ("D8", "a pause ends", r""),
    (
        "D9",
        "no message is lost",
        r"dropped: (invalid_auth|not_in_channel|is_archived|token_revoked|internal_error)",
    ),
    ("D11", "no message is lost", r"dropped: its card never came"),
    ("D14", "no loop spins", r""),
    ("D15", "an answer is kept", r""),
    ("D16", "a doubt is a doubt", r""),
    ("D17", "people can end it", r""),
    ("D19", "I-10 orphans", r""),
    ("D21", "I-7 true", r"\(funding_submit\) on \w+ is called succeeded; the API has"),
    ("D23", "nobody is accused", r"tampered"),
    ("D24", "every alert ends", r"deliveries_refused"),
    ("D25", "ending claims nothing", r""),
    ("D26", "I-17 entries", r""),
)


def defect_of(violation: Violation) -> str | None:
    """The known defect that this may be; None for something new."""
    for defect, rule, pattern in KNOWN:
        if violation.rule == rule and re.search(pattern, violation.text):
            return defect
    return None
