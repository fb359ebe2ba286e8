# ruff: noqa: E501  the words of a list stand as they are
"""Money that is not US dollars, by the words for it: `KES 15,000`, `150 rand`, `120 canadian`, `90 onto 9140, in pounds`."""

from __future__ import annotations

import re
from typing import Final

from bot.intents.plain_text.word_sets import word_set

#: Other money by the words for it, beside a figure.
_OTHER_MONEY: Final = word_set(
    """
    ksh kshs sh shs tsh tshs tzsh ush ushs shilling shillings bob rand rands cedi cedis fcfa cfa birr dirham dirhams dh dhs riyal riyals rial rials peso pesos
    baht bahts rp rupiah ringgit ringgits rm dong won rmb yuan renminbi soles leva lev lei hryvnia hryvnias rouble roubles ruble rubles shekel
    shekels taka isk tenge kronor kroner krona krone crowns dinar dinars lira liras leones leone kwacha kwachas forint forints koruna satoshi
    satoshis sats dai pyusd busd tusd bolivar bolivares guarani quetzal quetzales lempira colones colon manat lari dram kip kyat riel tugrik
    pula dalasi metical meticais ariary nakfa escudos gourde balboa pa'anga vatu tala rufiyaa ngultrum somoni som sum sol
    """
)
#: The codes of currencies that are no words of a sentence, in small letters too; the others count in capitals alone.
_CODES: Final = word_set(
    """
    mop nio ron sos gel lak mad cad aud cop pab won aed afn amd ang aoa ars awg azn bam bbd bdt bgn bhd bif bmd bnd brl bsd btn bwp byn bzd cdf chf clf clp cny cnh crc cve czk djf dkk dop
    dzd egp ern etb eur fjd fkp gbp ghs gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd
    kzt lbp lkr lrd lsl lyd mdl mga mkd mmk mnt mru mur mvr mwk mxn myr mzn nad ngn nok npr nzd omr pgk php pkr pln pyg qar rsd rub rur
    rwf sar sbd scr sdg sek sgd shp sle sll srd ssp stn svc syp szl thb tjs tmt tnd tzs twd uah ugx uyu uzs ves vnd vuv wst xaf xag xau
    xcd xof xpf yer zar zmw zwl zwg hrk bch ltc xrp doge ada dot sol
    """
)
_CODES_OR_WORDS: Final = word_set("all cup top try bob pen")
#: By its nickname, its plural, or as a number of what is no dollar at all.
_NICKNAMES: Final = word_set(
    """
    pound pounds sterling sterlings quid squid nicker fiver fivers tenner tenners pony monkey euro euros yen franc francs rupee rupees zloty zlotys zlotych zlote złoty
    złotych złote real reais reals naira nairas loonie loonies toonie toonies loon loons swissie swissies bobs crown crowns kr guilder
    guilders marks deutschmarks deutschmark dm kuna kunas tugriks litas drachma drachmas lakh lakhs lac lacs crore crores cr bitcoin bitcoins ether ethers
    tether tethers coin coins token tokens credits points pence pennies cents gwei wei sats kwanza kwanzas shekels hkdollars cdn nz ca ozzie oz sg uk aus au
    gbp eur cad aud chf fr yenes pesetas peseta
    """
)
#: Whose money it is.
_OF_COUNTRIES: Final = word_set(
    """
    aussie aussies ozzies kiwi kiwis sing sings singapore swiss hongkong hong-kong hong kong czech thai greek dutch french german irish welsh scots scottish
    british english danish polish swedish finnish spanish turkish argentine kazakh kyrgyz uzbek tajik turkmen afghan pakistani bangladeshi
    israeli iraqi iranian kuwaiti omani qatari saudi yemeni emirati bahraini nepali somali malagasy philippine filipino bermuda
    belize fiji namibia liberia jamaica barbados bahamas cayman trinidad guyana suriname brunei tuvalu kiribati nauru canada australia
    zealand taiwan mexico mexicana zimbabwe caribbean monopoly
    """
)
_OF_A_COUNTRY: Final = re.compile(r"^[a-zé]{2,}(?:ian|ean|ese|ish|can|rian|uan|yan|wan|dan)s?$")
_NO_COUNTRY: Final = word_set(
    "american americans these mean means clean cleans ocean beans bean scan scans swan dish fish wish finish publish sedan"
)
#: What may stand between a figure and its dollars.
_OF_DOLLARS: Final = word_set(
    """
    us u s american usd more extra additional further other new old whole full fresh measly lousy odd single big good hard lovely crisp real
    spare unused unspent leftover remaining k grand thousand hundred million and of in the my our his her their prepaid company worth
    """
)
_BEFORE: Final = re.compile(r"([^\W\d_]+)[.$]?(?:\s*|-)$")
_AFTER: Final = re.compile(
    r"[\s(-]*(?:(?:us )?(?:dollars?|bucks?|usd)[\s,(]+)?(?P<in>(?:worth )?(?:in|of)\s+)?(?P<word>[^\W\d_]+(?:-[^\W\d_]+)?)(?:\s+(?P<next>[^\W\d_]+))?"
)
_DOLLARS: Final = word_set("dollar dollars buck bucks")
#: Said of the amount later in its sentence: `load 90 onto 9140 (canadian)`, `…, in pounds`, `… . Canadian dollars, not US`.
_LATER: Final = re.compile(
    r"(?:\bin\s+|[,(:;–—.]\s*|\s-\s*)(?:the\s+)?(?=(?P<word>[^\W\d_]+(?:-[^\W\d_]+)?)(?:\s+(?P<next>[^\W\d_]+))?(?=\s*(?P<end>[^\w\s]|$)?))",
    re.IGNORECASE,
)
#: Said of all sums of a message, wherever: `All in EUR`, `currency: KES`, `amounts are in cents`.
_SAID_OF_ALL: Final = re.compile(
    r"\b(?P<by>in|currency|ccy|are|is|(?:it|that)['’]s|meant?)\b\s*[:=]?\s*(?:the\s+|all\s+)?(?=(?P<word>[^\W\d_]+)(?:\s+(?P<next>[^\W\d_]+))?)",
    re.IGNORECASE,
)
#: Codes and words of money that stand behind "is" or "in" as well without it.
_NOT_SAID_OF_ALL: Final = word_set(
    "bob sum sol won sh dm mad gel lak ron sos mop nio ada dot ern ang ether ethers all top try cup pen"
)
_PAYS: Final = re.compile(
    r"\b(?:pa(?:y|ys|id|ying)|charg\w+|costs?|pric\w+|quot\w+|bill\w*|invoic\w+|bought|buys?|spen[dt]\w*|deal\w*|takes?|accept\w*|wants?|speak\w*|writ\w+|say\w*|said)\b"
)
_LONGEST: Final = 14  # letters of such a word
_NEAR: Final = 90  # letters behind the amount that may say whose money it is
#: They are places, things or people as well.
_ALSO_ELSE: Final = word_set(
    """
    marks mark real reals points credits coin coins token tokens cr fr oz ca au uk nz sg pony monkey
    aus singapore canada australia mexico taiwan jamaica fiji belize bermuda barbados bahamas namibia liberia zimbabwe brunei guyana trinidad hong kong
    """
)


def _is_money(word: str) -> bool:
    return word in _NICKNAMES or word in _OTHER_MONEY or word in _CODES


def is_code_of_money(word: str) -> bool:
    """Is a word in capitals the code or name of a money, US dollars among them: `USD`, `KES`?"""
    low = word.lower()
    return low.startswith("usd") or low == "us" or low in _CODES_OR_WORDS or _is_money(low)


def _is_of_a_country(word: str) -> bool:
    return word in _OF_COUNTRIES or (word not in _NO_COUNTRY and _OF_A_COUNTRY.match(word) is not None)


def is_of_other_money(text: str, start: int, end: int) -> bool:
    """Is a figure of a text, from `start` to `end`, in a money that is not US dollars, by the words around it?"""
    before = _BEFORE.search(text[max(0, start - _LONGEST) : start])
    after = _AFTER.match(text, end, end + 3 * _LONGEST)
    if before is not None and _names_money(before[1], text, is_before=True):
        return True
    if after is not None:
        word, behind = after["word"], (after["next"] or "").lower()
        low = word.lower()
        if not after["in"] and _names_money(word, text):
            return True
        if after["in"] and (_is_money(low) or _is_of_a_country(low)):
            return True
        if behind in _DOLLARS and low not in _OF_DOLLARS:
            return True
    return _is_said_later(text[end : end + _NEAR])


def _names_money(word: str, text: str, *, is_before: bool = False) -> bool:
    low = word.lower()
    if low in ("bob", "sum", "sol") and is_before:
        return False
    if is_before and (low in _NICKNAMES or _is_of_a_country(low)):
        return low not in _ALSO_ELSE and low not in ("pence", "pennies", "cents")
    return (
        _is_money(low)
        or _is_of_a_country(low)
        or (word.isupper() and low in _CODES_OR_WORDS and not text.isupper())
    )


def _is_said_later(tail: str) -> bool:
    for found in _LATER.finditer(tail):
        if _PAYS.search(tail[: found.start()]):
            return False
        word, behind = found["word"].lower(), (found["next"] or "").lower()
        if behind in _DOLLARS and (_is_of_a_country(word) or _is_money(word)):
            return True
        alone = not behind or behind in ("please", "pls", "not", "only", "thanks", "thx")
        money = _is_money(word) or (_is_of_a_country(word) and not found[0].startswith("."))
        if (
            (alone or _is_money(behind))
            and money
            and word not in _ALSO_ELSE
            and word not in ("bob", "sum", "sol")
        ):
            return True
        if _is_of_a_country(word) and _is_money(behind):
            return True
    return False


def is_said_of_other_money(text: str) -> bool:
    """Does a text say anywhere that its sums are of a money that is not US dollars?

    Not where it tells in what somebody pays or is charged.
    """
    for found in _SAID_OF_ALL.finditer(text):
        word, behind = found["word"].lower(), (found["next"] or "").lower()
        money = _is_money(word) and word not in _ALSO_ELSE and word not in _NOT_SAID_OF_ALL
        if found["by"].lower() in ("are", "is") and word in _CODES:
            money = False
        if not money and not (behind in _DOLLARS and _is_of_a_country(word)):
            continue
        sentence = re.split(r"[.!?;\n]", text[max(0, found.start() - _NEAR) : found.start()])[-1]
        if not _PAYS.search(sentence):
            return True
    return False


__all__ = ["is_code_of_money", "is_of_other_money", "is_said_of_other_money"]
