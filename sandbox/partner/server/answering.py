"""From a request to an answer, in the order of checks of U19.

Path, key, rate limit, method, scope; then the handler's own order. A fault strikes after the scope.
aiohttp is a thin shell around `handle`; tests may call it in process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sandbox.partner import codec
from sandbox.partner.accounts import ApiKey, accounts
from sandbox.partner.background import due_timers
from sandbox.partner.calls import HANG_SECONDS, Call, Fault, authentication, chaos, faults, journal
from sandbox.partner.http import Answer, Lost, Refusal, Request, Wire, not_found
from sandbox.partner.openapi import document
from sandbox.partner.routes import BASE_PATH, Operation, table
from sandbox.partner.schemas import project
from sandbox.partner.state import World

_GARBAGE = b'{"data": {"card_id": "'  # cut off, as by a proxy that lost its upstream
_STATUS_CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    402: "INSUFFICIENT_FUNDS",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "BAD_REQUEST",
    409: "ALREADY_PROCESSED",
    429: "RATE_LIMITED",
}


async def handle(world: World, request: Request) -> Answer:
    """Answer one API request and note it in the journal."""
    due_timers.run_due(world)
    path = request.path.removeprefix(BASE_PATH)
    if request.path == BASE_PATH + "/openapi.json":
        return _description(world, request)
    who: list[ApiKey] = []
    lost: Answer | None = None
    try:
        answer, lost = await _answer(world, request, path, who)
    except Refusal as refusal:
        answer = refusal.answer()
    except Lost as end:
        answer = Answer.nothing(end.wire)
    journal.write(world, request, who[0] if who else None, answer, lost)
    return answer


def _description(world: World, request: Request) -> Answer:
    """The description of what the caller's account is shown, without a key the first one's; not rate limited (U70)."""
    if request.method != "GET":
        return Refusal(405, "BAD_REQUEST", f"{request.method} is not supported here.", Allow="GET").answer()
    try:
        _, owner = authentication.authenticate(world, request, is_me=False)
    except Refusal:
        owner = accounts.account(world, accounts.first_account(world))
    return Answer(200, document.served(owner.settings.profile))


def answer_at_once(
    world: World, method: str, place: str, headers: Sequence[tuple[str, str]], body: bytes
) -> tuple[int | None, bytes]:
    """The answer to a call of `place`, a path below the base path with its query; no status where it was lost.

    For callers that cannot wait. Raises RuntimeError where a fault would have the call wait.
    """
    path, _, query = place.partition("?")
    running = handle(world, Request(method, BASE_PATH + path, query, tuple(headers), body))
    try:
        running.send(None)
    except StopIteration as end:
        answer: Answer = end.value
        return (answer.status if answer.wire is Wire.ANSWER else None), answer.body
    running.close()
    raise RuntimeError(f"{method} {path} would wait")


async def _answer(
    world: World, request: Request, path: str, who: list[ApiKey]
) -> tuple[Answer, Answer | None]:
    on_path = table.at_path(path)
    if not on_path or not request.path.startswith(BASE_PATH + "/"):
        raise not_found(f"The path {request.path}")
    if on_path[0][0].method_first:
        _method(on_path, request.method)
    key, owner = authentication.authenticate(world, request, is_me=path == "/me")
    who.append(key)
    remaining = authentication.take_slot(world, key)
    operation, values = _method(on_path, request.method)
    if operation.scope not in key.scopes:
        raise Refusal(403, "FORBIDDEN", f"This key lacks the scope {operation.scope}.")
    fault = faults.due(world, operation.name, values.get("cardId")) or chaos.strike(world, operation)
    call = Call(world, request, key, owner.id, values, fault, request.parameters())
    answer, lost = await _struck(call, operation)
    answer.headers.update(_rate_headers(key, remaining))
    return answer, lost


def _method(on_path: list[tuple[Operation, dict[str, str]]], method: str) -> tuple[Operation, dict[str, str]]:
    for operation, values in on_path:
        if operation.method == method:
            return operation, values
    allowed = ", ".join(operation.method for operation, _ in on_path)
    raise Refusal(405, "BAD_REQUEST", f"{method} is not supported here.", Allow=allowed)


def _rate_headers(key: ApiKey, remaining: int) -> dict[str, str]:
    return {"X-RateLimit-Limit": str(key.rate_limit_per_minute), "X-RateLimit-Remaining": str(remaining)}


async def _struck(call: Call, operation: Operation) -> tuple[Answer, Answer | None]:
    """Run the operation under its fault; the answer, and the answer that was lost on the way."""
    fault = call.fault
    if fault is not None:
        await _before(fault, operation)
    answer = await _run(call, operation)
    if fault is not None and fault.effect == "drop_after_commit":
        return Answer.nothing(Wire.DROP), answer
    if fault is not None and fault.effect == "garbage":
        return Answer(200, _GARBAGE), None
    return answer, None


async def _before(fault: Fault, operation: Operation) -> None:
    if fault.effect == "status":
        status = fault.status or 500
        code = fault.code or _STATUS_CODES.get(status, "UNAVAILABLE")
        headers = {"Retry_After": "60"} if code == "RATE_LIMITED" else {}
        raise Refusal(status, code, f"Forced by the tester: {status} {code}.", **headers)
    if fault.effect == "drop_before_commit":
        raise Lost(Wire.DROP)
    if fault.effect == "reset":
        raise Lost(Wire.RESET)
    if fault.effect == "hang":
        await asyncio.sleep(HANG_SECONDS if fault.seconds is None else fault.seconds)
        raise Lost(Wire.DROP)
    if fault.effect == "delay" and not operation.waits:
        await asyncio.sleep(fault.seconds or 0)


async def _run(call: Call, operation: Operation) -> Answer:
    """The handler's answer, refusals included, as the account's profile shows it."""
    try:
        answer = await operation.handler(call)
    except Refusal as refusal:
        return refusal.answer()
    profile = call.account.settings.profile
    if profile == "plausible":
        return answer
    data = codec.decode(answer.body)["data"]
    return Answer.of(project(operation.answer, data, profile), answer.status)
