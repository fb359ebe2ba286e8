"""How the app is reached: envelopes with payloads, over Socket Mode or signed HTTP, until it acknowledges.

`Delivery` sends a `Parcel` and answers with its `Ack`, always, at the latest when Slack's three seconds are over;
events are sent again after that, as Slack does. What an envelope says is made by `payloads` (interactions and
commands) and `Events`. Nothing here knows what made somebody click, nor what the app does about it.

`envelopes` (sending, acks, retries, the log) · `socket_mode` and `signed_http` (the two transports) · `payloads` ·
`events`.
"""

from __future__ import annotations

from sandbox.slack.delivery.envelopes import Ack, Delivery, Parcel, Transport
from sandbox.slack.delivery.events import Events
from sandbox.slack.delivery.signed_http import HttpTransport
from sandbox.slack.delivery.socket_mode import REASONS, SocketHub

__all__ = [
    "REASONS",
    "Ack",
    "Delivery",
    "Events",
    "HttpTransport",
    "Parcel",
    "SocketHub",
    "Transport",
    "payloads",
]
