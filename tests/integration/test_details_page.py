"""`/details` over HTTP: GET changes nothing, POST spends, and every answer keeps itself to itself."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp.web import Application

from bot import details, web
from bot.domain.card_details import Manner, origin_of, origins
from bot.partner.loopback import is_loopback
from bot.partner.secret import Secret
from bot.services.execution import NotShown, Shown

TOKEN = "t" * 43
FRAMES = "http://127.0.0.1:8401"


@dataclass
class Service:
    """What POST leads to: every use of a link, in order."""

    used: list[tuple[str, Manner]] = field(default_factory=list)
    refusal: NotShown | None = None
    note: str = ""

    async def open_link(self, token: Secret, manner: Manner) -> Shown:
        self.used.append((token.reveal(), manner))
        if self.refusal:
            raise self.refusal
        return Shown(manner, Secret(f"{FRAMES}/card-details/x"), 600, self.note)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
async def client(service: Service) -> AsyncIterator[aiohttp.ClientSession]:
    numbers = iter(range(100))

    def add_to(app: Application) -> None:
        details.add_to(
            app, service.open_link, origins=[FRAMES], nonce=lambda: f"nonce{next(numbers)}", https=True
        )

    server = await web.serve(web.build({}, more=[add_to]), host="127.0.0.1", port=0)
    async with aiohttp.ClientSession(server.url) as session:
        yield session
    await server.stop()


async def test_getting_the_page_spends_nothing_however_often(
    client: aiohttp.ClientSession, service: Service
) -> None:
    for method in ("GET", "HEAD", "GET"):
        async with client.request(method, f"/details?token={TOKEN}") as answer:
            assert answer.status == 200
            assert answer.content_type == "text/html"

    assert service.used == []


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("/details", f"connect-src 'self'; frame-src {FRAMES}"),
        ("/details?as=text", f"connect-src 'self' {FRAMES}; frame-src 'none'"),
        ("/details?as=%22%3E%3Cscript%3E", f"connect-src 'self'; frame-src {FRAMES}"),
    ],
)
async def test_the_policy_of_the_page_lets_in_nothing_but_its_own_script_and_the_service(
    client: aiohttp.ClientSession, address: str, allowed: str
) -> None:
    policies = []
    for _ in range(2):
        async with client.get(address) as answer:
            text = await answer.text()
            policies.append(answer.headers["Content-Security-Policy"])
            nonce = re.search(r"'nonce-(\w+)'", policies[-1])
            assert nonce
            assert text.count(f'nonce="{nonce[1]}"') == 2
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cache-Control"] == "no-store"
            assert "noindex" in answer.headers["X-Robots-Tag"]
            assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
            assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert not re.search(r"%[A-Z]+%|https?://|<script src|<link", text), "not self-contained"

    plain = re.sub(r"nonce-\w+", "nonce-R", policies[0])
    assert plain == (
        f"default-src 'none'; script-src 'nonce-R'; style-src 'nonce-R'; {allowed}; form-action 'none';"
        " base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
    )
    assert policies[0] != policies[1], "one nonce twice"


async def test_post_gives_the_address_and_its_time(client: aiohttp.ClientSession, service: Service) -> None:
    async with client.post("/details", json={"token": TOKEN}) as answer:
        assert answer.status == 200
        assert await answer.json() == {"details_url": f"{FRAMES}/card-details/x", "expires_in": 600}
    service.note = "The card is frozen."
    async with client.post("/details", json={"token": TOKEN, "as": "text"}) as answer:
        found = await answer.json()

    assert (found["exchange_url"], found["note"]) == (f"{FRAMES}/card-details/x", "The card is frozen.")
    assert service.used == [(TOKEN, Manner.FRAME), (TOKEN, Manner.TEXT)]


async def test_a_refusal_is_reported_in_words_with_its_status(
    client: aiohttp.ClientSession, service: Service
) -> None:
    service.refusal = NotShown("This link was used already.", "used")
    async with client.post("/details", json={"token": TOKEN}) as answer:
        assert answer.status == 410
        assert await answer.json() == {"error": "This link was used already.", "reason": "used"}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"null", b"{", b'{"token": 1}', b'{"token": null}', b'{"as": "text"}', b"\xff",
        b'{"token": "x", "as": ["text"]}', b'{"token": "x", "as": "pdf"}', b'{"token": "x", "card": "y"}',
        b'{"token": "' + b"x" * 2000 + b'"}', b"[" * 900, b'{"token": "\\ud800"}',
    ],
)  # fmt: skip
async def test_a_body_of_another_form_is_refused_and_spends_nothing(
    client: aiohttp.ClientSession, service: Service, body: bytes
) -> None:
    async with client.post("/details", data=body, headers={"Content-Type": "application/json"}) as answer:
        assert answer.status == 400
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "x" * 20 not in await answer.text()

    assert service.used == []


async def test_a_form_of_another_page_cannot_spend(client: aiohttp.ClientSession, service: Service) -> None:
    for form in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        body = b'{"token": "%s"}' % TOKEN.encode()
        async with client.post("/details", data=body, headers={"Content-Type": form}) as answer:
            assert answer.status == 400
    async with client.put("/details", json={"token": TOKEN}) as answer:
        assert answer.status == 405
        assert answer.headers["Referrer-Policy"] == "no-referrer"

    assert service.used == []


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Cards.example.com/x?y", "https://cards.example.com"),
        ("https://cards.example.com:443/x", "https://cards.example.com"),
        ("https://cards.example.com:8443/x", "https://cards.example.com:8443"),
        ("http://127.0.0.1:8401/x", "http://127.0.0.1:8401"),
        ("http://localhost/x", "http://localhost"),
        ("http://[::1]:81/x", "http://[::1]:81"),
        ("http://cards.example.com/x", None),
        ("https://me@cards.example.com/x", None),
        ("https://a.example.com;script-src */x", None),
        ("https://*.example.com/x", None),
        ("https://a.example.com:http/x", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("//cards.example.com/x", None),
        ("", None),
    ],
)
def test_only_https_or_this_machine_may_be_embedded(url: str, origin: str | None) -> None:
    assert origin_of(url, is_loopback) == origin


def test_the_api_s_own_host_and_those_named_serve_details_and_no_other() -> None:
    found = origins(["https://api.example.com/api/partner/v1"], ["cards.example.com"], is_loopback)

    assert found == {"https://api.example.com", "https://cards.example.com"}
