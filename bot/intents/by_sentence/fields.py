"""A message that is nothing but fields, as the request they make: lines of `card: 9140`, or `{"op": "topup", "card": "9140", "amt": "60"}`.

Every piece of it has to be known: a heading or a field that says what to do, the fields of that form, and what only tells why.
Otherwise there is none. The request in plain words is read and judged like any other.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.directory import Directory

_LONGEST: Final = 600  # characters
_MOST_PIECES: Final = 14
_COURTESY: Final = r"(?:(?:hi|hello|hey|morning|good (?:morning|afternoon|day)|team|all|bot|pls|please|plz|kindly|thx|thanks|ta|asap|urgent|apply|process|do|this|it|run|execute|now)\b[\s,.!:<-]*)*"
_COURTESIES: Final = re.compile(rf"[\s,.!<-]*{_COURTESY}", re.IGNORECASE)
_OBJECT: Final = re.compile(
    r"^(?P<head>[^{}\n]{0,60})\{(?P<inside>[^{}]*)\}(?P<tail>[^{}]{0,60})$", re.DOTALL
)
_PAIR: Final = re.compile(
    r"""\s*"?(?P<key>[A-Za-z0-9][\w -]{0,24}?)"?\s*[:=]\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^",;{}]+))\s*(?:[,;]|$)"""
)
_LINE: Final = re.compile(
    r"^\s*(?:[-*•·–]\s*)?(?P<key>[A-Za-z0-9][\w -]{0,24}?)\s*[:=]\s*(?P<value>\S.*?)\s*$"
)
_MARK: Final = re.compile(r"^\s*(?:[-*•·–]\s*)?")
_TICKET: Final = re.compile(r"\(?\b[A-Z]{2,6}-\d{1,6}\b\)?")
_KEYS: Final = {
    **dict.fromkeys(
        (
            "card",
            "card no",
            "card nr",
            "card number",
            "card ref",
            "cardholder",
            "holder",
            "who",
            "account",
            "last4",
            "last 4",
            "target",
        ),
        "card",
    ),
    **dict.fromkeys(("amount", "amt", "sum", "usd", "amount usd", "usd amount"), "amount"),
    **dict.fromkeys(("op", "operation", "action", "type", "request", "cmd", "command", "kind"), "op"),
    **dict.fromkeys(
        (
            "reason",
            "why",
            "note",
            "notes",
            "ticket",
            "ref",
            "reference",
            "case",
            "memo",
            "comment",
            "purpose",
            "background",
        ),
        "why",
    ),
    **dict.fromkeys(("network", "net", "chain"), "network"),
    **dict.fromkeys(("hash", "tx", "tx hash", "txhash", "txid", "tx id", "transaction"), "hash"),
    **dict.fromkeys(("phone", "mobile", "new phone", "new number", "new mobile", "tel", "msisdn"), "phone"),
    **dict.fromkeys(("3ds", "otp", "codes", "threeds"), "codes"),
    **dict.fromkeys(("markup", "markup pct", "markup percent", "mark up", "new markup"), "markup"),
    **dict.fromkeys(("new value", "value", "rate"), "value"),
    **dict.fromkeys(("currency", "ccy"), "currency"),
    **{
        key: unit
        for unit in ("daily", "weekly", "monthly")
        for key in (
            unit,
            f"{unit} limit",
            f"{unit} cap",
            f"per {unit[:-2].replace('dai', 'day')}",
            f"limit {unit}",
        )
    },
    **dict.fromkeys(("per transaction", "per purchase", "transaction", "single purchase"), "per transaction"),
}
_FORMS: Final = {
    "topup": "top up|topup|load|reload|refill|recharge|credit",
    "unload": "unload|withdraw|withdrawal|take off|debit|unloading",
    "freeze": "freeze|block|lock|suspend",
    "unfreeze": "unfreeze|unblock|unlock|reactivate|thaw|activate again",
    "close": "close|closure|terminate|close for good|close permanently|cancel permanently|cancel for good|permanent closure",
    "limits": "limit|limits|set limit|set limits|limit change|change limit|change limits|new limit|new limits|spending limit|spending limits",
    "phone": "phone change|change phone|new phone|change phone number|phone number change|new number",
    "markup": "markup|markup change|change markup|set markup|new markup",
    "funding": "funding|deposit|new funding|new deposit|submit funding|submit deposit|submit as funding|submit as deposit|funding submission|submit",
}
_FORM_OF: Final = {words: form for form, listed in _FORMS.items() for words in listed.split("|")}
_NEEDED: Final = {
    "topup": ("card", "amount"),
    "unload": ("card", "amount"),
    **dict.fromkeys(("freeze", "unfreeze", "close"), ("card",)),
    "limits": ("card",),
    "phone": ("card", "phone"),
    "markup": ("markup",),
    "funding": ("hash", "network"),
    "codes": ("card", "codes"),
}
_PLAINLY: Final = {
    "topup": "please load {amount} onto card {card}",
    "unload": "please take {amount} off card {card}",
    "freeze": "please freeze card {card}",
    "unfreeze": "please unfreeze card {card}",
    "close": "please close card {card} for good",
    "phone": "please change the phone number of card {card} to {phone}",
    "markup": "please set the markup to {markup}",
    "funding": "please submit funding {hash} on {network}",
    "codes": "please send the 3ds codes of card {card} to {codes}",
}
_UNITS: Final = ("daily", "weekly", "monthly", "per transaction")
_SUM: Final = re.compile(r"[$]?\d[\d.,]*(?: ?(?:usd|dollars))?", re.IGNORECASE)
_SHAPES: Final = {
    "amount": _SUM,
    **dict.fromkeys(_UNITS, _SUM),
    "markup": re.compile(r"\d+(?:[.,]\d+)? ?(?:%|percent|bps)?", re.IGNORECASE),
    "hash": re.compile(r"0[xX][0-9a-fA-F]{64}"),
    "network": re.compile(r"[A-Za-z][A-Za-z -]{1,20}"),
    "phone": re.compile(r"\+\d[\d ()-]{6,20}"),
    "codes": re.compile(r"[A-Za-z-]{3,12}"),
    "currency": re.compile(r"usd|us dollars?", re.IGNORECASE),
}
#: In what tells why: it is not to be done, not yet, or was only tried.
_AGAINST: Final = re.compile(
    r"\b(?:not|never|no|if|unless|until|till|once|when|wait|cancel\w*|instead|tests?|testing|draft|example|template|sample|demo|dry|pending|approv\w*|tomorrow|later|next|ignore|hold|tb[acd]|forget|already|undo|stop|or|maybe|said|says|reasons|asked|wants?)\b|n['’]t\b|(?<!check )(?<!checks )\bdone\b|\?",
    re.IGNORECASE,
)


def in_fields(text: str, cards: Directory) -> str:
    """The request in plain words that a text of nothing but fields makes; empty where it is none."""
    if len(text) > _LONGEST or ("\n" not in text and "{" not in text):
        return ""
    text = text.translate(_QUOTES)
    pieces = _of_object(text, cards) if "{" in text else _of_lines(text, cards)
    return _plainly(pieces, cards) if pieces else ""


_QUOTES: Final = str.maketrans({**dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’", "'")})


def _of_object(text: str, cards: Directory) -> list[tuple[str, str]]:
    found = _OBJECT.match(text.strip())
    if found is None:
        return []
    pieces: list[tuple[str, str]] = []
    head = _COURTESIES.sub("", found["head"], count=1).strip(" ,:")
    if head:
        pieces.append(("card", head) if cards.called(head) else ("op", head))
    at = 0
    inside = found["inside"].strip()
    while at < len(inside):
        pair = _PAIR.match(inside, at)
        if pair is None:
            return []
        pieces.append(
            (_key(pair["key"]), (pair["quoted"] if pair["quoted"] is not None else pair["bare"]).strip())
        )
        at = pair.end()
    tail = _COURTESIES.sub("", found["tail"], count=1).strip(" ,.!")
    if tail:
        reasons = tail.partition(",")[2] if not _said(tail) else ""
        pieces.append(("why", reasons) if reasons else ("op", tail))
    return pieces


def _of_lines(text: str, cards: Directory) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = []
    for number, line in enumerate(line for line in text.split("\n") if line.strip()):
        bare = _COURTESIES.sub("", _MARK.sub("", line), count=1).strip()
        if not bare.strip(" .,!:"):
            continue
        field = _LINE.match(line)
        if field is not None and _key(field["key"]):
            pieces.append((_key(field["key"]), field["value"]))
        elif bare.startswith("(") and bare.endswith(")"):
            pieces.append(("why", bare))
        elif number == 0 or not pieces:
            pieces += _of_heading(bare, cards)
        elif bare.lower().startswith("card ") and cards.called(bare[5:].strip()):
            pieces.append(("card", bare[5:].strip()))
        else:
            return []
    return pieces if len(pieces) > 1 else []


_HEADING: Final = re.compile(
    r"^(?P<what>[A-Za-z][A-Za-z -]*?)(?: (?:for|of|on) (?P<card>[\w.+-]+(?: [\w.+-]+)?))?(?:,? (?:as (?:agreed|discussed|decided|per)(?: in| with)?|per|ref\.?|see|in|from))?\s*[:.,]*$"
)


def _of_heading(line: str, cards: Directory) -> list[tuple[str, str]]:
    if _said(line):
        return [("op", line)]
    ticket = _TICKET.search(line)
    found = _HEADING.match(_TICKET.sub("", line).strip(" :.,") if ticket else line.strip(" :.,"))
    if found is None:
        return [("", "")]
    if found["card"] and not cards.called(found["card"]):
        return [("", "")]
    pieces = [("op" if _said(found["what"]) else "why", found["what"])]
    return [*pieces, ("card", found["card"])] if found["card"] else pieces


def _key(written: str) -> str:
    return _KEYS.get(" ".join(re.split(r"[\s_-]+", written.strip().lower())), "")


_AROUND: Final = re.compile(r"\b(?:please|pls|kindly|request|card|a|the|for card|new)\b")


def _said(words: str) -> str:
    """The form that words of a heading or a field name."""
    plain = " ".join(re.split(r"[\s_-]+", words.strip(" .:!,").lower()))
    return _FORM_OF.get(plain) or _FORM_OF.get(" ".join(_AROUND.sub(" ", plain).split()), "")


def _plainly(pieces: list[tuple[str, str]], cards: Directory) -> str:
    """The request that pieces make: all that its form needs, once each, and nothing else."""
    reasons = [value for key, value in pieces if key == "why"]
    forms = {_said(value) for key, value in pieces if key == "op"}
    fields = {key: value for key, value in pieces if key not in ("why", "op")}
    single = len(fields) + len(reasons) + sum(key == "op" for key, _ in pieces) == len(pieces)
    if len(pieces) > _MOST_PIECES or len(forms) > 1 or not single or any(map(_AGAINST.search, reasons)):
        return ""
    form = next(iter(forms), "codes" if "codes" in fields else "markup" if "markup" in fields else "")
    if form == "markup" and "value" in fields:
        fields.setdefault("markup", fields.pop("value"))
    if _fits("currency", fields.get("currency", "")):
        del fields["currency"]
    return _in_words(form, fields) if _are_right(form, fields, cards) else ""


def _are_right(form: str, fields: dict[str, str], cards: Directory) -> bool:
    """Are these the fields that the form needs, each of its shape, and a card that is known?"""
    limits = [unit for unit in _UNITS if unit in fields] if form == "limits" else []
    if form not in _NEEDED or set(fields) != {*_NEEDED[form], *limits} or (form == "limits" and not limits):
        return False
    if not all(_fits(key, value) for key, value in fields.items() if key != "card"):
        return False
    return "card" not in fields or bool(cards.called(fields["card"].removesuffix("'s")))


def _in_words(form: str, fields: dict[str, str]) -> str:
    if form == "limits":
        limits = ", ".join(f"{unit} {fields[unit]}" for unit in _UNITS if unit in fields)
        return f"please set the limits of card {fields['card']}: {limits}"
    if form == "markup" and fields["markup"][-1:].isdigit():
        fields = {"markup": f"{fields['markup']}%"}
    return _PLAINLY[form].format(**fields)


def _fits(key: str, value: str) -> bool:
    return key in _SHAPES and _SHAPES[key].fullmatch(value.strip()) is not None


__all__ = ["in_fields"]
