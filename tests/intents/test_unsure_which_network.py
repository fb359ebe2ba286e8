"""Who does not know on which network a deposit was sent is asked, whatever network stands in the message."""

from __future__ import annotations

from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

HASH = "0x66585fe5eac69879498115a06d4f2a12cd42c8d1c0ea12bff5c9c9b41b827b01"
REQUESTS = ["book {h}", "please submit {h}", "submit the deposit {h}"]
UNSURE = [
    "cant remember which i used, either base or {n}",
    "it was base or {n}",
    "not sure which network, maybe {n}",
    "I don't know what chain it was, {n} I think",
    "forgot which one I picked, {n} probably",
]
NETWORKS = ["bsc", "polygon", "BNB Chain"]


def _networks(text: str) -> list[object]:
    found = parse(text, authors.facts(), kinds=operations.kinds()).readings
    return [one.slots.get("network") for one in found if one.opened]


@pytest.mark.parametrize("unsure", UNSURE)
def test_no_form_opens_with_a_network_that_the_writer_is_not_sure_of(unsure: str) -> None:
    texts = [
        text
        for request, network in product(REQUESTS, NETWORKS)
        for said in (unsure.format(n=network),)
        for text in (f"{said}, {request.format(h=HASH)}", f"{request.format(h=HASH)}. {said}")
    ]
    assert {text: found for text in texts if (found := _networks(text))} == {}


@pytest.mark.parametrize(("request_text", "network"), list(product(REQUESTS, NETWORKS)))
def test_a_network_that_is_named_is_read(request_text: str, network: str) -> None:
    assert _networks(f"{request_text.format(h=HASH)} on {network}") != []
