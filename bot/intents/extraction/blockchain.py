"""Transaction hashes, links of block explorers, and names of networks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.intents.extraction.entity import Entity
from bot.intents.plain_text import word_set

_HASH: Final = re.compile(r"(?<![0-9a-zA-Z])0[xX][0-9a-fA-F]{64}(?![0-9a-zA-Z…])")
_HEX: Final = re.compile(r"(?<![0-9a-zA-Z])0[xX][0-9a-fA-F]*(?:(?:…|\.{2,3})[0-9a-fA-F]*)?[0-9a-zA-Z]*")
_OTHER: Final = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{43,90})(?![0-9a-zA-Z])")
_URL: Final = re.compile(
    r"(?:https?://|(?<![\w./@-])(?=(?:www\.)?(?:polygonscan\.com|bscscan\.com|basescan\.org)/))([^\s/|>]+)([^\s|>]*)",
    re.IGNORECASE,
)
_HOSTS: Final = {"polygonscan.com": "POLYGON", "bscscan.com": "BNB", "basescan.org": "BASE"}
_WORDS: Final = re.compile(
    r"(?<![\w-])(?:(?P<POLYGON>poly ?gon[es]?|polly ?gone?|poly gone|poly(?=\s*(?:$|[.,;!?)]|(?:network|chain|mainnet|address|addr|usd[tc]|please|pls)\b))|matic|pol)|(?P<BNB>bnb(?: smart)?(?: chain)?|bsc|bep-?20"
    r"|binance(?: smart)?(?: chain)?)"
    r"|(?P<BASE>(?:(?<=through )|(?<=thru )|(?<=in )(?=base\W)|(?<=network )|(?<=network is )|(?<=chain is )|(?<=net is )|(?<=\0\n)|(?<=\0\n\n)|(?<=chain )|(?<=on )|(?<=via )|(?<=over )|(?<=or )|(?<=: )|(?<=\()|(?<=and ))base|(?<=from )(?-i:Base)(?! camp| salary)"
    r"|base(?= (?:funding|txn?|network|chain|address|deposit|mainnet)|\)|\s*[?.!]?$)"
    r"|(?:(?<=\0 )|(?<=\0, )|(?<=\0\. ))base(?=\s*(?:$|[.,;!?])| (?:please|pls|now|thx|thanks)\b)|base(?=[.,:;]?\s\0)|base(?= mainnet| chain))"
    r"|(?P<other>ethereum|erc-?20|trc-?20|tron|solana|arbitrum|optimism|avalanche|bitcoin|eth(?= (?:transfer|network|mainnet|chain|wallet|addy|adress|address|addr|deposit)\b)|(?<=on )eth(?!\s*\d)|(?<=via )eth(?!\s*\d)))(?![\w-])",
    re.IGNORECASE | re.MULTILINE,
)
UNKNOWN_NETWORK: Final = "OTHER"
#: A text without one of these names no network.
NETWORK_WORDS: Final = word_set(
    """
    polygon polygone poly polly matic pol bnb bsc bep binance base
    ethereum erc trc tron solana arbitrum optimism avalanche bitcoin eth
    """
)


def find_hashes(text: str) -> Iterator[Entity]:
    """Hashes, explorer links (hash and network in one), and things that only look like one."""
    for link in _URL.finditer(text):
        yield from _in_link(link)
    for found in _HASH.finditer(text):
        yield Entity("tx_hash", *found.span(), found[0].lower(), found[0])
    for found in _HEX.finditer(text):
        if len(found[0]) == 42:
            doubt = "the whole transaction hash: that is an address"
            yield Entity("address", *found.span(), found[0].lower(), found[0], doubt)
        elif len(found[0]) > 4:
            yield Entity("tx_hash", *found.span(), found[0].lower(), found[0], "the whole transaction hash")
    for found in _OTHER.finditer(text):
        if re.search(r"\d", found[0]):
            doubt = "a hash of a network we can fund on: 0x and 64 characters"
            yield Entity("tx_hash", *found.span(), "", found[0], doubt)


def _in_link(link: re.Match[str]) -> Iterator[Entity]:
    """The host names the network, the path the hash; a link of any other kind is nobody's."""
    host = re.sub(r"^(?:www|testnet)\.", "", link[1].lower())
    network = _HOSTS.get(host, "")
    if network:
        # The host's own stretch stands for the network, the rest for the hash.
        split = link.start(2)
        yield Entity("network", link.start(), split, network, link[1])
        inside = re.search(r"0[xX][0-9a-fA-F]{64}(?![0-9a-zA-Z])", link[2])
        if inside:
            start = link.start(2) + inside.start()
            yield Entity("tx_hash", start, start + len(inside[0]), inside[0].lower(), inside[0])
    else:
        yield Entity("foreign", *link.span(), link[0], "")


def find_networks(text: str) -> Iterator[Entity]:
    """Networks by name. `base` is also a word: beside what was claimed before, a hash, it is none."""
    for found in _WORDS.finditer(text):
        name = found.lastgroup or ""
        yield Entity("network", *found.span(), UNKNOWN_NETWORK if name == "other" else name, found[0])
