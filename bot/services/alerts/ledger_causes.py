"""Why the float fell: what a row of the ledger that takes from it is explained by [Ledger entry].

A top-up is explained by our request of its key; a load fee by the funding it is of; a monthly fee by a card of this
account; a funding that was taken back by its submission. Everything else that takes from the float, whatever its
kind is called, nobody here can explain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot import operations
from bot.domain.money import ledger_text
from bot.domain.requests import State
from bot.partner.calls import account as account_calls
from bot.partner.calls import cards as card_calls
from bot.partner.models import LedgerEntry
from bot.services.alerts import funding_rules
from bot.services.core import Core
from storage.cards import cards
from storage.requests import requests
from storage.transaction import Tx

# Kinds of ledger rows that, where they take, take back what came in.
_TAKEN_BACK = frozenset({"funding"})
_UNDER_WAY = frozenset({State.EXECUTING, State.UNRESOLVED})


async def unexplained(
    tx: Tx, core: Core, program: str, fresh: Sequence[LedgerEntry], known: Collection[str]
) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
    """Of these rows those with a key of ours that no request has, and those that take from the float without cause.
    `known`: the keys of requests."""
    unknown = [entry for entry in fresh if ledger_text.key_in(entry.reference) not in known]
    orphans = [entry for entry in unknown if core.ids.made(ledger_text.key_in(entry.reference))]
    falls = [entry for entry in unknown if entry.amount_usd < 0 and entry not in orphans]
    fees = [entry for entry in falls if entry.kind == "fee"]
    taken_back = [entry for entry in falls if entry.kind in _TAKEN_BACK]
    explained = [
        *await _fees(tx, core, program, fees, fresh),
        *await _fundings(tx, core, program, taken_back),
    ]
    return orphans, [entry for entry in falls if entry not in explained]


async def _fees(
    tx: Tx, core: Core, program: str, fees: Sequence[LedgerEntry], fresh: Sequence[LedgerEntry]
) -> list[LedgerEntry]:
    """Load fees, by their form; monthly fees of the account's cards, and of those that we just order."""
    monthly = [entry for entry in fees if not _is_load_fee(entry)]
    named = {token for entry in monthly for token in ledger_text.tokens(entry.reference)}
    known = set(await cards.labels(tx, named))
    if named - known:
        found, is_any_under_way = await _ordered(tx, core, program, fresh)
        known |= found
        # Its answer is on its way or was lost, so its card is not known yet.
        known |= named if is_any_under_way else set()
    ours = [entry for entry in monthly if known & set(ledger_text.tokens(entry.reference))]
    return [*ours, *(entry for entry in fees if _is_load_fee(entry))]


def _is_load_fee(entry: LedgerEntry) -> bool:
    named = ledger_text.funding_in(entry.reference)
    return named is not None and named.is_fee and not named.is_back


async def _ordered(tx: Tx, core: Core, program: str, fresh: Sequence[LedgerEntry]) -> tuple[set[str], bool]:
    """The cards that our newest orders made, and whether one of these orders is still under way."""
    kinds = operations.asking(core.kinds, card_calls.ORDER_CARD)
    states = _UNDER_WAY | {State.SUCCEEDED}
    orders = await requests.find(tx, program=program, kinds=kinds, states=states, each_row=True, limit=200)
    made = {str((order.outcome or {}).get("card_id") or "") for order in orders}
    claimed = {
        entry.description or "" for entry in fresh if any(entry.names_key(order.key) for order in orders)
    }
    return made | claimed, any(order.state in _UNDER_WAY for order in orders)


async def _fundings(tx: Tx, core: Core, program: str, taken_back: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Those of a submission that is known here: that it was taken back has an alert of its own."""
    if not taken_back:
        return []
    hashes = await funding_rules.known_hashes(tx, program)
    kinds = operations.asking(core.kinds, account_calls.SUBMIT_FUNDING)
    found = []
    for entry in taken_back:
        named = ledger_text.funding_in(entry.reference)
        if named is None or not named.is_back or named.is_fee:
            continue
        ours = named.tx_hash in hashes or await requests.find(tx, subject=named.tx_hash, kinds=kinds, limit=1)
        found += [entry] if ours else []
    return found
