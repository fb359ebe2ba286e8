"""Which look-up a clause asks for. Generous: a wrong look-up costs a message.

Each rule is a pattern over the masked clause and what must be at hand; the first that fits wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.intents.recognition.action_verbs import C, H
from bot.intents.recognition.record_lookups import FIRST, LAST, person_of, requester_of


@dataclass(frozen=True, slots=True)
class Rule:
    """`needs` = "card": only with one in the clause or just named; "" = as it stands."""

    intent: str
    pattern: re.Pattern[str]
    needs: str = ""


def _rule(intent: str, pattern: str, needs: str = "") -> Rule:
    return Rule(intent, re.compile(pattern), needs)


_SHOW: Final = r"(?:show|list|give|gimme|see|get|pull up|display|send|what|which|any|all|how many|export)"
_MONEY_LEFT: Final = (
    r"\bresidu(?:al|e)\b(?! (?:of|from) (?:the |a )?(?:invoice|bill))|\bwhat §c\d+§ has (?:left |still |now )?to spend\b|^anything (?:left |still )?(?:on|in) §c|how much (?:money |cash )?(?:is|does|do|has|have|did|s|'s|are|on"
    r"|left)\b|what(?:'s| is| has| does)? .*\bleft\b|left on\b|money (?:is |left |remaining )?on\b"
)
_DECLINED: Final = (
    r"declin\w*|\b(?:killed|stopped|sank|blocked) (?:the|that|this|his|her|their|our) (?:[\w.&'’-]+ ){0,3}?(?:charge|payment|purchase"
    r"|transaction)\b|\bnegated\b|\bdo not honou?r\b|\bstopped §c\d+§ (?:at|from|in)\b"
    r"|\b(?:pump|terminal|machine|till|shop|pos|reader|atm|hotel|merchant)s? (?:said|says|saying) no\b"
    r"|(?:can\'?t|cannot|can not|unable to|couldn\'?t) (?:\S+ )?(?:pay|be used"
    r"|withdraw)\b|\brefus\w+|\breject\w*|\bfail(?:s|ed|ing|ures?)?\b|\bbounc\w+|\bdenied\b|turned down"
    r"|\b(?:kicked|knocked|sent|thrown|threw|spit|spat) (?:it |them )?(?:back|out)\b|\bturned (?:it "
    r"|them )?(?:away|down)\b|\b(?:wouldn'?t|won'?t|didn'?t|doesn'?t|did not|does not|would not) (?:go|run|swipe|take|accept"
    r"|clear|pass)\b(?! (?:that|to|home|back|out|away))"
    r"|(?:not|n't|n’t|never|stopped|isnt|doesnt) (?:be )?(?:work\w*|go(?:ing)? through|accepted)|\bbroken\b"
)
_SPENT: Final = (
    r"\btransactions?\b|\bpurchas\w+|\bspen[dt]\w*|\bbought\b|\bbuy(?:s|ing)?\b|\btxs?\b"
    r"|\btxns?\b|\bpaid\b|\bpay(?:s|ing|ments?)?\b"
    r"|\bcharge[ds]?\b|\bactivity\b|\bhistory\b|\b(?:get|got|been|was|being) used\b"
    r"|\bmovements?\b|\bswip(?:es?|ed|ing)\b|\btaps\b|\brefunds?\b|\bmerchants?\b|\b(?:last )?used\b|what(?:'s|s| is) on §c"
)
_FUNDING: Final = (
    r"\b(?:crypto|usd[tc]|coins?|stablecoins?) (?:deposits?|transfers?|payments?)\b"
    r"|\bdeposits?\b(?: \w+){0,4}? (?:in|to|into|on) (?:the |our )?float\b"
    r"|\b(?:what|which|any|how much|how many|list|all|show)\b[^?]{0,20}\b(?:crypto|usd[tc]|coins"
    r"|deposits?)\b[^?]{0,20}\b(?:land|arriv|came|come|receiv|got|hit|went|credit)\w*"
    r"|\bfundings?\b|\bfunding submissions?\b|\bdeposits?\b(?= (?:to|into|for)"
    r" (?:the |our )?float)|\b(?:usdt|usdc) (?:transfer|deposit|payment)\b|\b(?:usdt|usdc)"
    r" (?:arrive|come|land|credited|get)\w*|\bsubmissions?\b"
)
_FEE: Final = (
    r"\bfees?\b|fee schedule|\bmark-?up\b|\b(?:current|our|the) rates\b"
    r"|\bpricing\b|what do(?:es)? .*\bcosts?\b|what do we charge|how much do we (?:charge"
    r"|pay for)|price list|\bcommission\b"
)

DECISION: Final = re.compile(
    r"^(?:to validate|consider (?:this|that|it) (?:as )?my (?:yes|approval|ok|signature|sign-?off))\b"
    r"|^(?:(?:just|abeg|mate|so|now) )*(?:i |we )?(?:hereby )?(?:approve|approved(?! or\b)(?! yet\b)|reject|rejected(?! or\b)(?! yet\b)|deny|denied(?! or\b)|decline it"
    r"|decline that)\b(?! (?:reason|why|fundings?|deposits?|transfers?|requests?|payments?|purchases?|transactions?|top-?ups?|ones|cards?))|^lgtm\b"
)
#: The same of a request that is named, in other words and orders: `R-7K3M: signed`, `with my approval R-7K3M can go`.
DECIDES: Final = re.compile(
    r"§r\d+§ (?:is |has been |gets )?(?:hereby |fully |now )*(?:approved|rejected|signed(?: off)?|ok(?:ay)?(?:ed)?|denied|cleared|authori[sz]ed) (?:by me|from me|from my (?:side|end)|on my (?:part|side|end))\b|"
    r"^(?!.*\b(?:who|what|when|was|has|have|is|did|does|why|how|status|state|which|where|or (?:nah|nope|no|still)|yet|can i"
    r"|can (?!you\b|u\b|we\b|someone\b|somebody\b|this\b|it\b|now\b|go\b|be\b)\w+ (?:approve"
    r"|sign|reject)|should|or not?|got (?:approved|rejected|signed)|by whom?|whether|insists?|already)\b).*"
    r"\b(?:approve|ap{1,2}rov(?:e|ed|es)?|my approval|reject|rejected|nack|ack|signed|sign off"
    r"|sign (?:it|this|that) off|validate|i confirm|i agree|i deny|deny|lgtm"
    r"|ship it|go ahead)\b"
)
HELP: Final = re.compile(
    r"^help\b|\ball your tricks\b|\bsyntax (?:for|of)\b|\bguide (?:me |us )?how to\b|\bin what (?:manner|way) (?:do|can|should) (?:i|we)\b|\bwhat (?:sort|kind)s? of (?:jobs|things|tasks|work|requests) (?:do|can) you\b|\bout ?side your patch\b|^commands?\b|\b(?:list|overview|menu) of (?:all )?(?:your |the )?(?:commands?|cmds|things (?:that )?you)\b|^cmds?\b|\byour tricks\b|\bthings (?:that )?you (?:can do|understand|know)\b|\bwhat can (?:you|i|we)\b|\b(?:what|which) commands\b|^how (?:do"
    r"|can|would|to|does|should|could) (?:i|we|one|this|it|you)\b(?!.*\b(?:left|stand|balance|float look)\b)"
    r"|^how to\b|what (?:are|do) you\b(?! (?:think|reckon|mean|say|make of|recommend|fancy|want"
    r"|doing))|\bwhat (?:do|should|must) (?:i|we) (?:type|write|say|enter)\b|\bwhat(?:'s| is"
    r"|s) the (?:procedure|process|drill|workflow)\b|\bwhich (?:details|data|information"
    r"|fields) (?:must|do|should|shall) (?:i|we)\b|\bhow does (?:this|it) work|^(?:(?:show|give|gimme|send|need|get)\b )?(?:me |us )?(?:the |your |a )?(?:menu|options|cheat ?sheet)\b|\bwhat are my options\b"
    r"|\bhelp (?:me"
    r" )?(?:with|please)\b|^\?+$|\bhelp\?*$"
    r"|\bhow (?:do|can) (?:i|we) |\bwhat (?:am i|are we|is one) supposed to (?:say|type|write|do"
    r"|tell you|ask)\b|\bwhat (?:can|could|may|should) i (?:say|ask|tell you|write|type|use you for)\b"
)
NOT_OFFERED: Final = re.compile(
    r"\b(?:cvv|cvc|cv2|security code)\b|^(?!.*\bsecure link\b).*\bcard number\b|\bpan\b(?! pizza)|\bpin\b(?! (?:this"
    r"|it|that))|\bdispute\b|\bcharge[ -]?backs?\b|make §?\w+§? an? approver|add §?\w+§? as (?:an )?approver"
)

#: What a person may do without a card or anything else at hand.
RULES: Final = (
    _rule("funding_show", rf"{H}"),
    _rule(
        "card_transactions",
        rf"\bwhat (?:all )?(?:went|has gone|goes|came|is going|was put|ran) (?:through|over)"
        rf" (?:on |with |from |at )?(?:the |that )?{C}"
        rf"|\bwhat (?:did|does|has) {C} (?:use|used|do|done|been doing)"
        r" (?:it|(?:her|his|the|their|that) card)(?: for| with)?\b",
        "card",
    ),
    _rule(
        "card_balance",
        rf"\bwhat(?:'s| is|s)? {C} (?:sitting|standing|down to|up to|sits?|at now)\b"
        rf"|\bwhere (?:is|does) {C} (?:stand|sit)\b",
        "card",
    ),
    _rule("spend_show", rf"{C} (?:sum|totals?)\b(?! (?:balance|limits?))", "card"),
    _rule("spend_show", rf"^§p\d+§ spend(?:ing|ings)? (?:of|by|for|from) {C}", "card in clause"),
    *(_rule(*row) for row in FIRST),
    _rule(
        "alerts_show",
        r"\balerts?\b|\balarms? (?:are|going|open|firing|now)|\b(?:any|open|show|list|what"
        r"|which|active) (?:the )?alarms?\b|on fire\b|\bincidents?\b|\bunacknowledged\b",
    ),
    _rule("decline_explain", rf"(?:{_DECLINED})", "card"),
    _rule(
        "pending_approvals",
        r"\b(?:dis)?approv\w*\b(?!.*\bfunding)|pending requests?|waiting (?:for|on) (?:me|my"
        r"|us|sign|a decision)|\bqueue\b(?! (?:at|outside|in front|of (?:trucks|cars)|for the))"
        r"|\bmy requests\b|\bneeds? (?:my|a|our|any)"
        r" (?:decision|approval|signature|sign-?off|second)|to sign\b|\b(?:open|outstanding"
        r"|unapproved) requests?\b|requests? (?:is |are )?(?:pending|open|waiting"
        r"|outstanding)|waiting for a second|what(?:'s| is) pending$|§r\d+§",
    ),
    _rule(
        "funding_addresses",
        r"\baddress(?:es)?\b.*(?:fund|deposit|usd[tc]|top|float|wallet|§n\d+§|send|chain"
        r"|network)|(?:fund\w*|deposit|usd[tc]|wallet|§n\d+§|float)\b.*\baddress(?:es)?\b"
        r"|§n\d+§.*\baddress|(?:where|which wallet|what wallet) (?:do|can|should|to|must)"
        r" (?:we |i |you )?(?:send|deposit|fund|wire|transfer|pay)|\b(?:usd[tc]|crypto"
        r"|stablecoins?)\b.*\bwhere (?:to|do)\b|\bwhere to\b.*\b(?:usd[tc]|fund)",
    ),
    _rule(
        "funding_addresses",
        r"\bwhere (?:does|do|must|should|shall|has|have|is|are) (?:the |our |any )?(?:money|usd[tc]|funds|coins|crypto|§n\d+§)\b[^?.!]{0,40}\b(?:go|sent|send)\b(?! wrong)"
        r"|\b(?:coordinates|details) (?:of|for) (?:the |our )?(?:deposits?|fundings?)\b|\bdeposit coordinates\b",
    ),
    _rule("card_transactions", r"\bhow much\b.*\b(?:spen[dt]\w*|paid|pays?|used|bought)\b", "card"),
    _rule(
        "ledger_show",
        r"\bledger\b|\bfloat (?:stmt|statment|statemnt|statements?|sheet|report|activity|bookings)\b"
        r"|\bfloat (?:movements?|statement|history|entries|log)|in and out of the"
        r" float|\b(?:account )?statement\b|\bbookings\b|movements (?:on|of) (?:the |our )?float"
        r"|\bwhat (?:left|came (?:in|into)|went (?:out of|into|off)|entered) (?:the |our )?float\b"
        r"|\bfloat in\s?(?:/|and|&|\+)\s?out\b|\bins? and outs? of (?:the |our )?float\b",
    ),
    _rule("fees_show", _FEE),
    _rule("funding_list", _FUNDING),
    _rule("card_balance", rf"\bbal(?:ance)?s?\b|{_MONEY_LEFT}|how much .*{C}|got left", "card in clause"),
    _rule("card_transactions", _SPENT, "card"),
    *(_rule(*row) for row in LAST),
    _rule("card_balance", rf"\bbal(?:ance)?s?\b|{_MONEY_LEFT}", "card"),
    _rule(
        "decline_explain",
        r"\b(?:payments?|purchases?|charges?|transactions?|order)\b.*\b(?:didn'?t|did not|does(?:n'?t| not)|wouldn'?t|won'?t) (?:go|pass|work|clear|run)\b"
        r"(?=.*\b(?:why|how come|reason|what (?:happened|went wrong|is wrong|'s wrong|gives))\b)",
        "",
    ),
    _rule(
        "decline_explain",
        r"\bdeclines?\b|\bcard\b.*\bdeclined\b|(?:why|reason|explain)\b.*\bdeclin\w+",
        "ask card",
    ),
    _rule(
        "card_balance",
        r"\bbal(?:ance)?\b.*\b(?:on|of|for) (?:the|that|this|a|his|her) card\b|\bcard(?:'s)?"
        r" balance\b|how much is on (?:the|that|this|his|her) card\b",
        "ask card",
    ),
    _rule("card_transactions", r"\b(?:transactions?|purchases|txs|txns)\b", "ask card"),
    _rule(
        "card_list",
        rf"\b{_SHOW}\b.*\bcards\b|^(?:the |our )?cards(?: list)?$|\bcards (?:ordered|issued"
        r"|created|on hold|frozen|blocked|active|we have|do we)|\bcards\b.*\b(?:list|do we"
        r" have|are (?:frozen|blocked|active|on hold))|who has (?:a )?cards?|\b(?:active"
        r"|frozen|blocked) cards\b|^card list\b|what(?:'s| is| are)? (?:frozen|blocked|on"
        r" hold)\b|^list (?:all )?(?:the )?(?:active|frozen|blocked)|list of (?:all |the )?(?:\w+ )?cards\b",
    ),
    _rule(
        "float_status",
        r"\bfloat\b|\brunway\b|days of cover|\b(?:program|programme|account|company|our"
        r"|current|available|acct)\b.*\bbal(?:ance)?\b|^(?:the |our )?(?:bal|balance)\??$"
        r"|\bbalance (?:on|of) (?:the |our )?(?:program|account|acct)|what(?:'s| is|s)"
        r" (?:the|our) balance|how much (?:money )?(?:can we|do we have|have we|is left|is"
        r" available|is on the account)|money left|\benough (?:for|money|funds|left|to)|can"
        r" we (?:afford|order \d|load)|\bavailable (?:balance|funds)|\bcommitted\b|\bafford\b"
        r"|how much money is left",
    ),
)

CARD_RULES: Final = (
    _rule(
        "card_show",
        r"\b(?:tell|show|info|details?|particulars?|status|look ?up|pull up|who (?:holds|has|owns|is"
        r"|froze|blocked|closed|unfroze)|what about|what(?:'s| is|s)? up|what do we know"
        r"|limits?|active|frozen|froze|freeze|closed|blocked|on hold|phone|number|threeds"
        r"|open|display|view|find|search|check|see|expir\w+|holder|belongs?|give me|about"
        rf"|get me|state|still|wrong with|happened)\b.*{C}|{C}.*\b(?:status|info|details?"
        r"|limits?|active|frozen|closed|blocked|on hold|holder|phone|state|still|expir\w+)\b"
        rf"|^(?:the )?{C}(?: card)?\W*(?:please|pls|plz|thx|thanks)?$|^(?:is|has|did|does|who|what"
        rf"|which)\b.*{C}",
    ),
)

_STATUS: Final = (
    ("frozen", re.compile(r"\bfrozen\b|on (?:hold|ice)\b|\biced\b|\bpaused\b|\blocked\b")),
    ("blocked", re.compile(r"\bblocked\b")),
    ("closed", re.compile(r"\bclosed\b")),
    ("active", re.compile(r"\bactive\b")),
)
_FUNDING_STATUS: Final = (
    (
        "in review",
        re.compile(
            r"in review|under review|\breview\b|\bbeing (?:looked at|looked into|checked|screened"
            r"|examined|held)\b"
        ),
    ),
    ("rejected", re.compile(r"\brejected\b|\brefused\b|\bfailed\b")),
    (
        "credited",
        re.compile(
            r"\bcredited in\b|(?:were|list|show|all|which)\b.*\bcredited\b|fundings? credited|\bcredited (?:fundings?|deposits?|submissions?)\b"
        ),
    ),
    ("pending", re.compile(r"\bpending\b|\bstuck\b|in flight|in transit|unconfirmed")),
)


def status_of(intent: str, text: str) -> str:
    """The status a list is narrowed to, or empty."""
    table = {"card_list": _STATUS, "funding_list": _FUNDING_STATUS}.get(intent, ())
    return next((name for name, pattern in table if pattern.search(text)), "")


#: Of a clause so many characters are read: nobody asks in more, and the thirty rules would take long for them.
_MOST_READ: Final = 800


def lookup_intent_of(text: str, *, card_here: bool, card_known: bool) -> str:
    """The look-up of a masked clause, or empty. `card_here` = it names one; `card_known` = the message does."""
    text = text[:_MOST_READ]
    if person_of(text):
        return "pending_approvals"
    if requester_of(text):
        return "request_show"
    for rule in RULES:
        if rule.needs == "card in clause" and not card_here:
            continue
        if rule.needs == "card" and not (card_here or card_known):
            continue
        if rule.pattern.search(text):
            return rule.intent
    if card_here:
        return next((rule.intent for rule in CARD_RULES if rule.pattern.search(text)), "")
    return ""
