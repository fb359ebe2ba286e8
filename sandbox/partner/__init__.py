"""A simulator of the Card Issuing Partner API: stateful, transactional, on its own clock.

It follows the API's document, and where the document is silent a written guess with a switch
(`accounts.Settings`). Not a security boundary: it listens on loopback, for pretend money only.

`server.serve` starts one. Each package here is a room with a door, its `__init__`; a room imports only those
below it, in this order (the import contract of `pyproject.toml` holds it):

- `server`: a running simulator; `answering` is the order of checks that each request goes through;
- `control`: the tester's calls under `/_control`; `viewer`: the page that shows a simulator;
- `scenarios`: named situations; `openapi`: the served description; `invariants`: what must hold after each step;
- `routes`: what each call of the API does, and the table of them; `background`: timers and webhook deliveries;
- `purchases`, `funding`, `cards`: what merchants, blockchains and the partner do;
- `events`, `ledger`, `calls`: the event log, the float, and a call on its way;
- `accounts`, `schemas`, `state`: partners and their settings, tables of fields, the database and the clock;
- `http`, `codec`, `money`: requests and answers, exact JSON, exact USD.
"""

from __future__ import annotations

__all__ = [
    "accounts",
    "background",
    "calls",
    "cards",
    "codec",
    "control",
    "events",
    "funding",
    "http",
    "invariants",
    "ledger",
    "money",
    "openapi",
    "purchases",
    "routes",
    "scenarios",
    "schemas",
    "server",
    "state",
    "viewer",
]
