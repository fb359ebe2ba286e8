"""The card processor behind the card provider: it agrees, unless a fault or the card's state says otherwise."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from sandbox.partner.calls.call import Call
from sandbox.partner.calls.faults import HANG_SECONDS
from sandbox.partner.http import Lost, Refusal, Wire, bad_request, unavailable

FAILING = "The card processor is unreachable or failing."
Verdict = Literal["ok", "refused", "unknown"]


@dataclass(frozen=True)
class Reply:
    """`refused` is definite: the processor did nothing. `unknown` may have done it."""

    verdict: Verdict
    code: str = ""


def ask(call: Call, refusal: str = "") -> Reply:
    """What the processor answers to this call; `refusal` is what the card's own state provokes."""
    fault = call.fault
    code = fault.processor if fault and fault.effect == "processor" and fault.processor else refusal
    if not code:
        return Reply("ok")
    return Reply("unknown" if code in {"5xx", "timeout"} else "refused", code)


def error_of(reply: Reply, *, issues: bool = False) -> Refusal:
    """The card provider's answer to a processor that did not agree (topup; Errors).

    `issues`: an order or a top-up, the two calls whose lack of capacity has a code of its own.
    """
    if reply.code in {"400", "412"}:
        return bad_request("The card processor refused the request.")
    if reply.code == "401":
        return Refusal(503, "UPSTREAM_AUTH", "The service could not authenticate to the card processor.")
    if reply.code == "capacity" and issues:
        return Refusal(409, "QUOTA", "The card processor has no capacity left.")
    return unavailable(502, FAILING)


def must_agree(call: Call) -> None:
    """For calls that change or read one thing: anything but agreement ends the call, nothing changed."""
    reply = ask(call)
    if reply.verdict != "ok":
        raise error_of(reply)


async def timed_out(call: Call) -> Refusal:
    """The answer to a processor timeout on a top-up, as the switch says (U28)."""
    choice = str(call.account.settings.processor_timeout)
    if choice == "hang":
        await asyncio.sleep(HANG_SECONDS)
        raise Lost(Wire.DROP)
    if choice == "500":
        return unavailable(500, "Internal error.")
    return unavailable(502, "The card processor did not answer in time.")
