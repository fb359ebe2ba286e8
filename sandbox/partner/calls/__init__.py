"""One API call on its way through a handler, and what it meets there.

`authentication` finds whose call it is, `Call` carries it, `faults` says what goes wrong with it on demand,
`chaos` by chance, `idempotency` gives one key at most one effect, `processor` is the card processor behind the card
provider, `paging` reads the page asked for, and `journal` notes request and answer. `Operation` says what a call is
before it comes: its method, path, scope and schemas.
"""

from __future__ import annotations

from sandbox.partner.calls.call import Call
from sandbox.partner.calls.chaos import Chaos
from sandbox.partner.calls.faults import HANG_SECONDS, Fault
from sandbox.partner.calls.idempotency import Keyed
from sandbox.partner.calls.operation import CARD_ERRORS, PAGED, PROCESSOR_ERRORS, Operation
from sandbox.partner.calls.paging import Page

__all__ = [
    "CARD_ERRORS",
    "HANG_SECONDS",
    "PAGED",
    "PROCESSOR_ERRORS",
    "Call",
    "Chaos",
    "Fault",
    "Keyed",
    "Operation",
    "Page",
    "authentication",
    "chaos",
    "faults",
    "idempotency",
    "journal",
    "paging",
    "processor",
]
