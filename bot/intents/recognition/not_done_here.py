"""What is ordered of us and not done here, and what is said of the fees, prices and ledgers of others.

Patterns over a masked clause; they are compiled when the first text is read.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from bot.intents.recognition.action_verbs import H

#: A few words between a verb and its object, in one breath.
_FEW: Final = r"\W+(?:[\w§'’-]+ ){0,5}?"
_EXCHANGE: Final = r"(?:swap|convert|exchange|bridge|trade|unwrap|wrap|stake|sell|buy)"
_CRYPTO: Final = r"(?:usd[tc]|crypto|coins?|tokens?|stablecoins?|eth|btc)"
_PEOPLE: Final = (
    r"(?:approvers?|from approving|from signing|(?:approver|admin|signer)s? (?:group|list|role|rights?)"
    r"|as (?:an? )?(?:admin|signer)|an? (?:admin|signer)|signatory|signatories)"
)
_RULES_OF_APPROVAL: Final = (
    r"(?:quorum|(?:approval|approver|approving|signing|signature)s? (?:threshold|policy|policies|rules?|count|number"
    r"|limit)|(?:number of|second|two|one|double) (?:approvals?|approvers?|signatures?|signers?)|four eyes)"
)
_ORDERS: Final = (
    r"(?:refund|reimburse) (?!(?:status|list|history)\b)[\w§]",
    r"(?:dispute|contest)\b",
    rf"{_EXCHANGE}{_FEW}(?:{_CRYPTO}\b|§n\d+§)",
    r"(?:convert|exchange|swap|change|turn)\W+(?:[\w§'’-]+ ){0,6}?(?:in|to|into|for|against) (?:euros?|eur|gbp|sterling|pounds?|francs?|chf|rand|rupees?|naira|yen|pln|zloty|(?:another|other|local|foreign|a different) currency)\b",
    r"(?:pay|send|wire|transfer|remit|move|withdraw|forward|pay out)\W+(?:[\w§'’,.-]+ ){0,6}?(?:from|out of|off) (?:the |our )?float\b[^.?!\n]{0,30}\bto (?!§c)[^.?!\n]{0,40}?\b(?:bank|current account|account|acct|a/c|iban|supplier|vendor|caterer|landlord|invoice|wallet)\b",
    r"remit\W+(?:[\w§'’,.-]+ ){0,6}?to (?!§c)[^.?!\n]{0,40}?\b(?:bank|current account|account|acct|a/c|iban|supplier|vendor)\b",
    r"(?:e-?mail|mail|fax|post|forward)\W+(?:me |us |him |her |them )?(?:[\w§'’-]+ ){0,5}?(?:statements?|reports?|ledger|lists?|receipts?|exports?|spreadsheets?)\b(?! of requests)",
    r"(?:make|prepare|file|draft|fill in|fill out|generate|do|write)\W+(?:me |us |him |her |them )?(?:[\w§'’-]+ ){0,3}?(?:vat|tax|w-?2|income) (?:declaration|return|form|statement|certificate|report)s?\b",
    rf"(?:speed up|accelerate|replace|cancel|drop|rush){_FEW}{H}",
    rf"(?:add|remove|make|put|take|appoint|delete|drop|swap|replace|set|turn){_FEW}{_PEOPLE}\b",
    rf"approvers?\b{_FEW}→",
    rf"(?:pay|send|wire|forward|transfer|pay out){_FEW}(?:{_CRYPTO}\b|§a\d+§|§n\d+§)"
    r"[^.?!\n]{0,40}\b(?:metamask|binance|coinbase|kraken|trust wallet|phantom"
    r"|(?:his|her|their|my|a|an external|external) (?:own )?(?:wallet|crypto wallet|address))\b",
    r"(?:lower|raise|change|set|drop|reduce|increase|skip|disable|turn off|bypass|switch off|remove|edit|update)"
    rf"{_FEW}{_RULES_OF_APPROVAL}\b",
)
_COINS: Final = r"(?:worth of §n\d+§|bitcoins?|btc|ether|eth|sol|doge\w*)"
#: Banks and bills, to be paid by somebody else.
_BILLS: Final = (
    r"(?:invoices?|bills?|landlord|rent|salary|salaries|wages|ibans?|suppliers?|vendors?|tax(?:es)?|(?:by |via |a )?bank transfer"
    r"|(?:our|my|his|her|their|the|ordinary) (?:\w+ )?bank account|barclays|hsbc|revolut|paypal|venmo|western union)"
)
#: What is bought elsewhere.
_BOUGHT: Final = (
    r"(?:flights?|(?:plane |train |bus |ferry )?tickets?|planes?|hotels?|hotel rooms?|taxis?|cabs?|ubers?|seats?|lunch|pizzas?|coffees?"
    r"|flowers?|chairs?|laptops?|toner|a van|a car)"
)
_PHONE_WALLETS: Final = (
    r"(?:(?:apple|google|samsung) (?:pay|wallet)|gpay|(?:phone|his|her|my|their|phone's) wallet)"
)
_ORDERS_OF_OTHERS: Final = (
    rf"(?:move|put|send|transfer|pay|wire|forward|withdraw|cash out|give|take){_FEW}{_COINS}(?!\w)(?! (?:network|chain|card))",
    rf"(?:pay|send|wire|transfer|settle|make){_FEW}{_BILLS}\b(?!.{{0,40}}\b(?:card|float)\b)",
    rf"(?:book|buy|reserve|order|purchase|get)\W+(?:(?!cards?\b)[\w§'’-]+ ){{0,4}}?{_BOUGHT}\b(?! (?:purchases|payments|charges|transactions|spend|card))"
    r"(?!.{0,60}\bcards?\b)",
    rf"(?:add|put|set up|install|link|load|connect|register){_FEW}{_PHONE_WALLETS}\b",
    r"(?:get|claim|fetch|demand)\W+(?:\w+ ){0,2}(?:money|cash|deposit|refund) back from (?!§c|(?:the|his|her|their|that) card)",
    r"(?:claim|request|chase|demand|get)\W+(?:us |me |him |her )?(?:the|a|our|my|his|her|that) refund\b",
    r"get [\w.§]+(?: [\w.]+)? to (?:refund|reimburse|repay|pay back)\b",
    rf"(?:delete|erase|wipe|hide){_FEW}(?:history|records?|statements?|ledger)\b",
    rf"(?:raise|increase|extend|lift|ask for){_FEW}(?:credit (?:lines?|limits?)|line of credit|overdrafts?)\b",
    rf"(?:schedule|automate|programme?)\b{_FEW}(?:top[ -]?ups?|loads?|recharges?|unloads?|freez\w+|payments?)\b",
    rf"set\b{_FEW}(?:up )?(?:as |to )?(?:an? )?(?:recurring|standing order|automatic|by itself)\b",
)
_SOLD: Final = r"(?:§n\d+§|eth|btc|bitcoin|gas|gold|oil)"
_OTHERS: Final = (
    r"\b(?:their|his|her|your|my|its) (?:[a-z]+ ){0,2}(?:fees?|ledger)\b",
    r"\b(?:banks?|gym|school|airlines?|uber|atm|roaming|parking|legal|baggage|tuition|membership|court|notary"
    r"|landlord)\b[^.?!]{0,25}\bfees?\b",
    rf"\b(?:price|rate|value|chart|worth) of (?:a |one )?{_SOLD}|(?<!\w){_SOLD} (?:price|chart)s?\b",
    r"\bledger (?:live|nano|device|stick)\b",
)


def is_not_done_here(bare: str) -> bool:
    """Is a clause, stripped of its lead, an order to exchange crypto, give back a purchase, change who approves?"""
    return _orders().match(bare) is not None


def is_about_others(text: str) -> bool:
    """Is a masked text about somebody else's fees, a price on a market, or a ledger to hold in the hand?"""
    return _of_others().search(text) is not None


@cache
def _orders() -> re.Pattern[str]:
    orders = "|".join((*_ORDERS, *_ORDERS_OF_OTHERS))
    return re.compile(rf"(?:to )?(?:{orders})")


@cache
def _of_others() -> re.Pattern[str]:
    return re.compile("|".join(_OTHERS))
