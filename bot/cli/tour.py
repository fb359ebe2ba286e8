"""What the demo's page suggests to try: a top-up by two people, then an alert and its fix.

The cards are those that every demo starts with; what ends a step are words of our own messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.slack import Step


def steps(partner_url: str) -> Sequence[Step]:
    """The steps of the tour; `partner_url` is the simulator's page."""
    from sandbox.slack import Step

    return (
        Step(
            "As Alice, send {go}. Give a reason, press Preview, then Submit.",
            go="/card topup 3205 50",
            user="U0ALICE",
            channel="card-ops",
            types="/card topup 3205 50",
            done_in="card-approvals",
            done_text="requests: Top up",
        ),
        Step(
            "Play {go}: read the request in #card-approvals and press Approve. Alice can't approve her own request.",
            go="Bob",
            user="U0BOB",
            channel="card-approvals",
            done_in="card-approvals",
            done_text="Succeeded: Top up",
        ),
        Step(
            "In the {go}, make a purchase of 400.00 with Marta's card. It is declined: the card has too little.",
            go="partner simulator",
            address=partner_url,
            done_in="card-alerts",
            done_text="MARTA KOWALSKA ••3205, the card does not hold enough",
        ),
        Step(
            "As Alice, open {go} and press Suggest a fix under the alert. Say how much is missing and why, and let Bob"
            " approve. Then open ⋯ under the alert and choose Resolve.",
            go="#card-alerts",
            user="U0ALICE",
            channel="card-alerts",
            done_in="card-alerts",
            done_text="Resolved",
        ),
    )
