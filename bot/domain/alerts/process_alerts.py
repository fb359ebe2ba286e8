"""The alerts about the processes of Countersign itself, of which several may share a database."""

from __future__ import annotations

from bot.domain.alerts.alert_kind import AlertKind, Severity, one, over

#: What it means for people where Slack still has the connection of such a process.
CLICKS_ARE_LOST = "Slack still sends it a part of what people do, so some commands and clicks get no answer. "

PROCESS_FROZEN = AlertKind(
    name="process_frozen",
    raised_when="a process of Countersign stands still, and still holds its connections",
    found_by="upkeep",
    ends="it works again, or is gone",
    wordings=one(
        Severity.CRITICAL,
        "A process of Countersign stands still: {process}",
        "It does {roles} and has not said since {since:%Y-%m-%d %H:%M:%S} UTC that it works. {clicks}The other"
        " processes have taken over its work. Restart it.",
    ),
    endings=over("The process {process} stands still no more", "It did for {lasted}."),
    is_mutable=False,
)
