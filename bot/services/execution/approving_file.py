"""Under which `countersign.toml` a request was approved, next to the one that the process has which sends it.

While processes are restarted one by one, two of them may have different files. The newer one counts, by the order in
which they were read as the audit log has it: no clock is asked. A process with the older file goes by who has which
role in the newer one, and asks for none of its own limits, because the process that took the approval has asked for the
newer ones. Who is in a group, and who has an account, Slack says: of that no file takes anything back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.people import Limits, described, policy_on_record
from bot.domain.requests import Decision, DecisionKind, Request
from bot.services.core import Core
from bot.services.requests import given
from storage.log_record import Policy, on_record
from storage.requests import decisions
from storage.transaction import Tx

NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ApprovingFile:
    """What is judged again because the file of the last approval is another one than this process's.

    `people`: the core whose policy says who has which role. `limits`: those to be counted again. `counts_sums`: tiers
    that look at sums may ask for something else.
    """

    people: Core
    limits: Limits = NO_LIMITS
    counts_sums: bool = False

    @property
    def counts_again(self) -> bool:
        """Is anything counted again that others were granted?"""
        return self.counts_sums or self.limits != NO_LIMITS


async def of(tx: Tx, core: Core, request: Request, whole: Request, words: list[Decision]) -> ApprovingFile:
    """Of a request that these decisions approved; `whole` is what they are about. Raises `LogNotWhole`."""
    own = core.policy.version
    if all(word.policy_version == own for word in words):
        return ApprovingFile(core)
    deciding = await _deciding(tx, request, whole, words)
    if deciding == {own}:  # it asked for all of this, whatever those before it did
        return ApprovingFile(core)
    known = (await on_record.of(tx)).policies
    approving = known.get(min(deciding)) if len(deciding) == 1 else None
    if approving is None or approving.settings is None:
        return ApprovingFile(core, core.policy.limits, counts_sums=True)
    settings = described(core.policy)
    sums = policy_on_record.counts_sums_otherwise(whole.kind, approving.settings, settings)
    if own in known and approving.read_after > known[own].read_after:
        return ApprovingFile(_with_people_of(core, approving), counts_sums=sums)
    lowered = policy_on_record.lowered(core.policy.limits, approving.settings, settings)
    return ApprovingFile(core, lowered, sums)


async def _deciding(tx: Tx, request: Request, whole: Request, words: list[Decision]) -> set[str]:
    """The version of the file under which the last approval was given: it settled the request. Of a row of a list all
    are dated by that one, so the list is asked."""
    if request.parent_id is not None:
        words = given(tx.vault, whole, await decisions.of(tx, whole.id), DecisionKind.APPROVE)
    return {word.policy_version for word in words if word.decided_at == whole.approved_at}


def _with_people_of(core: Core, newer: Policy) -> Core:
    if newer.people is None:  # an older version of Countersign wrote it
        return core
    named, delegations = policy_on_record.people_of(newer.people)
    return replace(core, policy=replace(core.policy, people=named, delegations=delegations))
