"""Submit a funding transfer by its hash [Account, POST /funding]; idempotent on the hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.domain.alerts import Remedy
from bot.domain.money import format_usd
from bot.domain.requests import Progress
from bot.operations import funding_words
from bot.operations._base import Buttons, Concern, Facts, Line, Look, Operation, Sought
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.funding_words import NETWORKS, reason_in_words
from bot.operations.value_types import NETWORK, TX_HASH
from bot.outcomes import Effect, Evidence, Finding, FollowFunding, Outcome
from bot.partner.calls import account as account_calls
from bot.partner.client import PartnerClient
from bot.partner.models import Funding


class SubmitFunding(Operation):
    """Having a transfer to the funding address credited to the float. Source: Account, POST /funding."""

    kind = "funding_submit"
    title = "Submit funding"
    verb = "Submit funding"
    command = ("funding", "submit")
    example = "/funding submit 0x… POLYGON"
    help = "have a transfer to the funding address credited"
    phrases = ("submit funding {tx_hash} on {network}",)
    endpoint = account_calls.SUBMIT_FUNDING
    remedy = Remedy.SUBMIT_FUNDING
    tx_hash = Field("Transaction hash", TX_HASH, placeholder="0x…", one_word=True)
    network = Field("Network", NETWORK, element="choice", choices=NETWORKS)
    # While nothing of the transfer is verified, each submission sets the network that it is looked for on.
    handling = Handling(superseded_by=("funding_submit",), leaves_a_trace=True)
    place = 11
    intent = "submit_funding"
    no_opposite = "A submitted transfer can't be taken back."
    buttons = Buttons(home=5)

    @classmethod
    def remedy_texts(cls, known: Mapping[str, str]) -> dict[str, str]:
        """The same transfer may be submitted again where it was not found."""
        return {"tx_hash": known["tx_hash"]} if known.get("reason") == "not_found" else {}

    @property
    def subject(self) -> str:
        """The transaction hash, in small letters."""
        return self.tx_hash

    def summary(self) -> str:
        """Names the transaction hash and the network."""
        return f"Submit funding {self.tx_hash} on {self.network}"

    def body(self) -> dict[str, Any]:
        """`tx_hash` and `network` (Account, POST /funding)."""
        return {"tx_hash": self.tx_hash, "network": self.network}

    async def read(self, partner: PartnerClient) -> Facts:
        """The listed networks, the float in USD, the load fee as a fraction, and earlier submissions.

        `unverified` counts own submissions that are not yet read on-chain; the API takes at most five at
        once.
        """
        addresses = await partner.funding_addresses()
        me = await partner.me()
        mine = await partner.funding_list()
        earlier = next((f for f in mine if f.tx_hash == self.subject), None)
        # Unverified: pending with nothing read on-chain yet [Funding submission, amount_usd].
        unverified = sum(f.status == "pending" and f.amount_usd is None for f in mine)
        return {
            "listed": [a.network for a in addresses],
            "float_available_usd": me.float.available_usd,
            "load_pct": me.fees.svc_pct,
            "unverified": unverified,
            "earlier_status": earlier and earlier.status,
            "earlier_network": earlier and earlier.network,
        }

    def lines(self, facts: Facts) -> list[Line]:
        """The float in USD, what will change it, and how many submissions are unverified."""
        return [
            ("Float available", format_usd(facts["float_available_usd"])),
            ("Effect", "grows when the transfer is verified and credited, less the load fee"),
            ("Unverified submissions", f"{facts['unverified']} of 5"),
        ]

    def lines_after(self, facts: Facts) -> list[Line]:
        """None: its message follows the submission, with what reached the float."""
        return []

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when the network is not listed or, for a new hash, five are still unverified."""
        found = []
        if self.network not in facts["listed"]:
            found.append(
                Concern(
                    f"Your card provider does not list {self.network} right now and would refuse it.",
                    stops=True,
                )
            )
        if facts["earlier_status"]:
            where = f"{facts['earlier_status']} on {facts['earlier_network']}"
            found.append(Concern(f"This hash was submitted before: it is {where}."))
        elif facts["unverified"] >= 5:
            found.append(
                Concern(
                    "Five submissions are still unverified; your card provider takes no sixth.", stops=True
                )
            )
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Submits the hash without a key: the call is idempotent on the hash. A rejected one is REFUSED."""
        return self._of(await partner.submit_funding(body))

    def _of(self, funding: Funding) -> Outcome:
        facts = funding_words.facts_of(funding)
        if funding.status == "rejected":
            words = reason_in_words(funding.status, funding.reason)
            return Outcome(
                Finding.REFUSED, f"The submission was rejected. {words} The float did not change.", facts
            )
        if funding.network != self.network:
            text = (
                f"Your card provider keeps this hash on {funding.network}, where it is {funding.status}, and did not"
                f" take it on {self.network}: the network of a verified transfer cannot be corrected."
            )
            return Outcome(Finding.REFUSED, text, facts)
        come = funding_words.progress_of(facts, requested_on=self.network)
        return Outcome(Finding.SUCCEEDED, come.text, facts)

    def progress(self, facts: Facts) -> Progress | None:
        """Submitted, in review, credited, funding rejected or taken back [Funding submission, States]."""
        if not facts.get("funding_id"):
            return None
        return funding_words.progress_of(facts, requested_on=self.network)

    def effects(self, outcome: Outcome) -> Sequence[Effect]:
        """A submission that the API took is followed until it is final, and after."""
        is_known = outcome.finding is Finding.SUCCEEDED and outcome.facts.get("funding_id")
        return (FollowFunding(outcome.facts),) if is_known else ()

    @classmethod
    def effect(cls, facts: Facts) -> str:
        """The submission and its network: a corrected one keeps its id [POST /funding, States]."""
        return f"{facts['funding_id']} {facts['network']}" if facts.get("funding_id") else ""

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done or undone as the list of submissions shows this hash on this network.

        A record on another network is of an earlier submission, and how the list is paged is not shown: neither that
        nor a missing record proves that ours did not arrive. Source: GET /funding.
        """
        wanted = self.network
        funding = next((f for f in await partner.funding_list() if f.tx_hash == self.subject), None)
        others = await sought.others()
        if funding is None:
            text = "Your card provider lists no submission of this hash, which does not prove that none was recorded."
            return Look(Evidence.UNSEEN, text, {})
        outcome = self._of(funding)
        if funding.network != wanted:
            text = (
                f"Your card provider has this hash on {funding.network}, where it is {funding.status}. Whether the"
                f" submission on {wanted} arrived is not known."
            )
            return Look(Evidence.UNSEEN, text, {"listed_on": funding.network, "status": funding.status})
        if (owner := others.taken.get(self.effect(outcome.facts))) is not None:
            text = (
                f"This hash is on the list by {owner}. Whether this submission arrived as well is not known."
            )
            return Look(Evidence.UNSEEN, text, {"status": funding.status})
        if outcome.finding is Finding.SUCCEEDED:
            return Look(Evidence.DONE, outcome.text, outcome.facts)
        if not sought.may_have_made(funding.created_at):
            text = f"{outcome.text} That was an earlier submission; whether this one arrived is not known."
            return Look(Evidence.UNSEEN, text, {"status": funding.status})
        return Look(Evidence.UNDONE, outcome.text, outcome.facts)
