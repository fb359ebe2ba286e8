"""Broken promises that are known today, each with the number of its defect; the list gets empty as fixes land.

`mend` puts one of them out of the way, so that what hides behind it can be found.
"""

from __future__ import annotations

import asyncio
import re
from unittest.mock import patch

from bot.engine.embedded import Embedded, Execute
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


async def _one_with_a_rest(self: Embedded, request_id: str, execute: Execute) -> None:
    """As `Embedded._one`, but a request that comes back at once rests for half a second."""
    try:
        await execute(request_id)
    except Exception:  # noqa: BLE001 - as there
        pass
    finally:
        await asyncio.sleep(0.5)
        self._running.pop(request_id, None)
        self._woken.set()


def mend(defect: str) -> None:
    """Put this defect out of the way, for the rest of the process. Only D14 can be."""
    if defect != "D14":
        raise ValueError(f"nothing is known to put {defect} out of the way")
    patch.object(Embedded, "_one", _one_with_a_rest).start()
