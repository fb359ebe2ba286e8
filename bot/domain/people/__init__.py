"""Who acts, what the policy allows, and who decides in whose place. Pure."""

from bot.domain.people import draft_only, policy_on_record
from bot.domain.people.actors import Actor, is_full_member, require_full_member
from bot.domain.people.delegation import LONGEST, Delegation, Standing
from bot.domain.people.one_person import joined, mailbox_of
from bot.domain.people.policy import (
    APPROVAL_VALID_FOR,
    APPROVAL_VALID_IN_WORDS,
    SUM_WORDS,
    Call,
    KindPolicy,
    Limits,
    Per,
    Policy,
    Sums,
    Tier,
    approved_while_paused,
    changes,
    described,
    never_met,
)

__all__ = [
    "APPROVAL_VALID_FOR",
    "APPROVAL_VALID_IN_WORDS",
    "LONGEST",
    "SUM_WORDS",
    "Actor",
    "Call",
    "Delegation",
    "KindPolicy",
    "Limits",
    "Per",
    "Policy",
    "Standing",
    "Sums",
    "Tier",
    "approved_while_paused",
    "changes",
    "described",
    "draft_only",
    "is_full_member",
    "joined",
    "mailbox_of",
    "never_met",
    "policy",
    "policy_on_record",
    "require_full_member",
]
