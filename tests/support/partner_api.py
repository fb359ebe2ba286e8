"""A Partner API made of canned answers, for tests of the client alone: real client, fake transport."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from bot.domain.time import Clock
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter

BASE_URL = "http://127.0.0.1:1/api/partner/v1"
KEY = "svc_live_00000000c0ffee"

Step = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def success(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """A success of the API; Decimals do not occur here, so the plain encoder will do."""
    return httpx.Response(status, json={"data": data}, headers=headers)


def refusal(status: int, code: str, message: str = "No.", **headers: str) -> httpx.Response:
    """An error of the API."""
    return httpx.Response(status, json={"error": message, "code": code}, headers=headers)


class CannedApi(httpx.AsyncBaseTransport):
    """Answers each request with the next step, the last one again and again, and keeps what it was sent."""

    def __init__(self, *steps: Step) -> None:
        self.steps: Sequence[Step] = steps
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        step = self.steps[min(len(self.requests), len(self.steps) - 1)]
        self.requests.append(request)
        if isinstance(step, Exception):
            raise step
        answer = step(request) if callable(step) else step
        # A response can be read once, and a step may be used often.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def sent(self, number: int = 0) -> Any:
        """The body of a request, as plain JSON."""
        return json.loads(self.requests[number].content)


def client_of(transport: httpx.AsyncBaseTransport, clock: Clock) -> PartnerClient:
    """A client that speaks to this transport."""
    return PartnerClient(BASE_URL, KEY, http=transport, limiter=RateLimiter(clock), clock=clock)
