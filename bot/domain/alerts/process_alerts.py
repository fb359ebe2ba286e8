"""The alerts about the processes of Countersign itself, of which several may share a database."""

from __future__ import annotations

from bot.domain.alerts.alert_kind import AlertKind, Severity, one, over

#: What it means for people where Slack still has the connection of such a process, and where it never had one.
CLICKS_ARE_LOST = "Slack still sends it a part of what people do, so some commands and clicks get no answer."
NO_CLICK_IS_LOST = "Commands and clicks in Slack are answered as before."

PROCESS_FROZEN = AlertKind(
    name="process_frozen",
    raised_when="a process of Countersign stands still, and still holds its connections",
    found_by="upkeep",
    ends="it works again, or is gone",
    wordings=one(
        Severity.CRITICAL,
        "A process of Countersign stands still: {process}",
        "It does {roles} and has not said since {since:%Y-%m-%d %H:%M:%S} UTC that it works. {clicks} The other"
        " processes have taken over its work. Restart it.",
    ),
    endings=over("Over: {title}", "It stood still for {lasted}, and works again or is gone."),
    is_mutable=False,
)
