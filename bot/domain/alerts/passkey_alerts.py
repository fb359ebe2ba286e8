"""The alerts about passkeys that no longer work: every change of them is in the channel where people see it."""

from __future__ import annotations

from bot.domain.alerts.alert_kind import AlertKind, Severity, Wording

PASSKEY = AlertKind(
    name="passkey_ended",
    raised_when="somebody's passkey was removed, reported lost, or may have been copied, or all of them were reset",
    found_by="people",
    ends="reported once",
    wordings={
        "removed": Wording(
            (Severity.WARNING,),
            "{owner} removed a passkey: {name}",
            "{who} did it, and it no longer works. If that is a surprise to {owner}, somebody else may be using that"
            " Slack account: ask {owner} in person.",
        ),
        "lost": Wording(
            (Severity.WARNING,),
            "The passkeys of {owner} were reported lost",
            "{who} confirmed it, and they no longer work. {owner} can add another with `/countersign passkey add`; two"
            " people confirm it.",
        ),
        "lost_own": Wording(
            (Severity.WARNING,),
            "{owner} reported their own passkeys as lost",
            "They no longer work. {owner} can add another with `/countersign passkey add`; two people confirm it. If"
            " that is a surprise to {owner}, somebody else may be using that Slack account: ask {owner} in person.",
        ),
        "copied": Wording(
            (Severity.CRITICAL,),
            "A passkey of {owner} may have been copied: {name}",
            "Its counter went back, which happens when two devices use the same passkey. Nothing was approved with it,"
            " and it no longer works. Ask {owner} in person which devices they use.",
        ),
        "reset": Wording(
            (Severity.CRITICAL,),
            "All passkeys were reset",
            "{who} did it with `countersign keys reset-passkeys` on the machine of Countersign, at"
            " {at:%Y-%m-%d %H:%M} UTC. No passkey counts any more, and a click confirms the next one. If nobody of you"
            " did this, pause sending with `/countersign pause`, and find out who can use the machine.",
        ),
    },
)
