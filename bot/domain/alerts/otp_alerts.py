"""The alerts of one-time codes for 3-D Secure purchases; none of them ever has a code in it."""

from __future__ import annotations

from bot.domain.alerts.alert_kind import AlertKind, Ending, Said, Severity, Wording, one

_WAITS = "{purchase} waits for a 3-D Secure code."

THREE_DS = AlertKind(
    name="3ds",
    raised_when="a purchase waits for a one-time code",
    found_by="events",
    ends="the code was sent, or cannot come any more",
    wordings={
        "sending": Wording(
            (Severity.INFO,),
            "A code is needed for {card}",
            _WAITS
            + " Its code goes to the person named for this card, and nowhere else. If nothing came, the cardholder must"
            " retry the purchase.",
        ),
        "expired": Wording(
            (Severity.WARNING,),
            "No code for {card}: it expired",
            _WAITS
            + " Its code came too late, or the bot was restarted in between, and was discarded. The cardholder must"
            " retry the purchase.",
        ),
        "nobody named": Wording(
            (Severity.WARNING,),
            "No one to send the code of {card} to",
            _WAITS
            + " Nobody is named for {reference}, so its code was discarded. An admin names somebody with"
            " `/countersign people map REFERENCE @person`. Then the cardholder must retry the purchase.",
        ),
        "not delivered": Wording(
            (Severity.WARNING,),
            "The code of {card} was not delivered",
            "{purchase} waited for a 3-D Secure code. Slack did not take the message to the person named for this"
            " card, and the code was discarded. The cardholder must retry the purchase.",
        ),
        "may not have come": Wording(
            (Severity.WARNING,),
            "{title_before}: it may not have arrived",
            "The bot stopped while the code was on its way, and the code was lost with it. If the person named for"
            " this card got none, the cardholder must retry the purchase.",
        ),
    },
    endings={
        "": Ending("No code is expected any more", "The alert was open for {lasted}."),
        "sent": Ending(
            "The code for {card} was sent", "It went to the person named for this card, and nowhere else."
        ),
    },
    digest_word="3-D Secure code",
    runbook="3ds-code_person",
)

CODE_PERSON = AlertKind(
    name="code_person",
    raised_when="somebody changed who gets one-time codes",
    found_by="people",
    ends="reported once",
    wordings=one(
        Severity.WARNING,
        "One-time codes of {reference} go to {name} now",
        "{how} Whoever gets these codes can complete purchases with the card. If you did not expect this, freeze the"
        " card.",
    ),
    runbook="3ds-code_person",
)


def nobody_named(card: str, purchase: str, partner_ref: str | None) -> Said:
    """A code came and nobody is named for the card's reference, `partner_ref`; None where the card has none."""
    reference = f"the reference {partner_ref}" if partner_ref else "a card without a reference"
    return THREE_DS.says("nobody named", card=card, purchase=purchase, reference=reference)
