"""`/passkey` over HTTP: GET changes nothing, and every answer keeps itself to itself."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import pytest
from aiohttp.web import Application

from bot import passkey_page, web
from bot.partner.secret import Secret
from bot.services.passkeys.page import Done, PageRefused
from bot.services.passkeys.page_content import Page

TOKEN = "t" * 43


class Service:
    """What the two calls lead to, in order."""

    def __init__(self) -> None:
        self.used: list[tuple[str, str]] = []
        self.refusal: PageRefused | None = None

    async def open_link(self, token: Secret) -> Page:
        self.used.append(("open", token.reveal()))
        if self.refusal:
            raise self.refusal
        return Page(Secret("p" * 43), "Bob", "Top up", "Lead", (("Card", "4242"),), (), (), "Go", {}, 300)

    async def finish(self, token: Secret, answer: Mapping[str, Any]) -> Done:
        self.used.append(("finish", token.reveal()))
        return Done("Approve", "You approved it.", "V1")


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
async def client(service: Service) -> AsyncIterator[aiohttp.ClientSession]:
    numbers = iter(range(100))

    def add_to(app: Application) -> None:
        passkey_page.add_to(
            app, service.open_link, service.finish, nonce=lambda: f"nonce{next(numbers)}", https=True
        )

    server = await web.serve(web.build({}, more=[add_to]), host="127.0.0.1", port=0)
    async with aiohttp.ClientSession(server.url) as session:
        yield session
    await server.stop()


async def test_getting_the_page_uses_nothing_up_and_lets_in_nothing_but_its_own_script(
    client: aiohttp.ClientSession, service: Service
) -> None:
    policies = []
    for _ in range(2):
        async with client.get(f"/passkey?token={TOKEN}") as answer:
            assert answer.status == 200
            policies.append(answer.headers["Content-Security-Policy"])
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
            text = await answer.text()

    assert service.used == []
    assert policies[0] != policies[1]
    assert "default-src 'none'" in policies[1]
    assert "frame-ancestors 'none'" in policies[1]
    assert not re.search(r"https?://", text)
    assert TOKEN not in text


async def test_the_two_calls_take_the_link_then_the_page(
    client: aiohttp.ClientSession, service: Service
) -> None:
    async with client.post("/passkey/open", json={"token": TOKEN}) as answer:
        page = await answer.json()
    async with client.post("/passkey/finish", json={"token": page["token"], "answer": {}}) as answer:
        done = await answer.json()

    assert service.used == [("open", TOKEN), ("finish", "p" * 43)]
    assert done == {"title": "Approve", "text": "You approved it."}


async def test_a_refusal_is_said_with_its_status(client: aiohttp.ClientSession, service: Service) -> None:
    service.refusal = PageRefused("This link was used already.", "used")

    async with client.post("/passkey/open", json={"token": TOKEN}) as answer:
        assert answer.status == 410
        assert await answer.json() == {"error": "This link was used already.", "reason": "used"}


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("open", b'{"token": 1}', "application/json"),
        ("open", b'{"token": "t", "more": 1}', "application/json"),
        ("open", b'{"token": "\\ud800"}', "application/json"),
        ("finish", b'{"token": "\\ud800", "answer": {}}', "application/json"),
        ("finish", b'{"token": "t", "answer": {"id": "\\ud800"}}', "application/json"),
        ("open", b"[]", "application/json"),
        ("open", b"{", "application/json"),
        ("open", b'{"token": "t"}', "text/plain"),
        ("finish", b'{"token": "t"}', "application/json"),
        ("finish", b'{"token": "t", "answer": []}', "application/json"),
        ("finish", b'{"token": "t", "answer": {"x": "' + b"a" * 33_000 + b'"}}', "application/json"),
    ],
)
async def test_anything_else_is_refused_and_leads_nowhere(
    client: aiohttp.ClientSession, service: Service, path: str, body: bytes, kind: str
) -> None:
    async with client.post(f"/passkey/{path}", data=body, headers={"Content-Type": kind}) as answer:
        assert answer.status == 400

    assert service.used == []
