"""What becomes of a request that was sent: what an attempt came to, and what to do next. Pure.

It promises that a doubt is never dropped: after an attempt whose outcome nobody knows, only evidence ends a
request, and a spent key is never sent again. What each answer of the API means is in `bot.partner.answers`.

    Outcome     what one attempt came to: a Finding, with the words for people
    Evidence    what a look at the API shows, without a send
    planning    send, repeat or look; what a look proves; what an outcome does to the request
    effects     what follows from a step: records, messages, alerts, secrets, as values to write
    timing      the pauses between attempts, and how long keys and details are kept
"""

from bot.outcomes.effects import (
    Effect,
    FollowFunding,
    FollowUrgent,
    GrantLink,
    KeepSecret,
    LoseSecret,
    SealSecret,
    SecretEffect,
)
from bot.outcomes.outcome import Outcome
from bot.outcomes.planning import Evidence
from bot.partner.answers import Finding

__all__ = [
    "Effect",
    "Evidence",
    "Finding",
    "FollowFunding",
    "FollowUrgent",
    "GrantLink",
    "KeepSecret",
    "LoseSecret",
    "Outcome",
    "SealSecret",
    "SecretEffect",
    "effects",
    "planning",
    "timing",
]
