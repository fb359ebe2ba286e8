"""How long what events said is kept. Pure values; `[retention]` of countersign.toml sets them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Retention:
    """`events`: after an event was handled, what it said word for word. Its id is kept permanently.

    What a purchase, a submission or an alert is made of is kept elsewhere, so this is for asking what the
    card provider said: a month covers the disputes about a delivery, and no handling needs more than a minute.
    `relay`: messages that another system never took, from when they were written.
    """

    events: timedelta = timedelta(days=30)
    relay: timedelta = timedelta(days=30)
