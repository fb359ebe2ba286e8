"""Passkeys in Slack: the buttons that lead to their page, and who has which."""

from __future__ import annotations

from bot.domain.passkeys import LINK_GOOD_FOR, Purpose
from bot.partner.secret import Secret
from bot.view_models import PasskeysView, PasskeyView
from handlers.views import blocks as b
from handlers.views import ids

_WORDS = {
    Purpose.ADD: "Add passkey",
    Purpose.APPROVE: "Approve with passkey",
    Purpose.CONFIRM: "Confirm with passkey",
    Purpose.RESOLVE: "Resolve with passkey",
    Purpose.CONSENT: "Confirm with passkey",
}
_MINUTES = LINK_GOOD_FOR.seconds // 60
_MOST = 20
_STATES = {
    "active": "works",
    "waiting": "waits for another person's confirmation",
    "waiting_for_two": "waits for the confirmation of two other people",
    "waiting_for_second": "one person confirmed it, and it waits for a second one",
    "expired": "nobody confirmed it in time",
    "changed": "does not count: what is stored of it was changed",
}


def button(purpose: Purpose, url: Secret) -> b.Block:
    """The button that opens the page, and what its link is."""
    press = {**b.button(_WORDS[purpose], ids.PASSKEY_PAGE, style="primary"), "url": url.reveal()}
    return b.actions([press], "passkey:page")


def explained() -> b.Block:
    return b.context(
        f"Opens a page where your device asks for your fingerprint, your face or its PIN. The link is yours alone: it"
        f" works once, for {_MINUTES} minutes."
    )


def window(title: str, purpose: Purpose, url: Secret) -> b.Block:
    """In an open window, in place of a submit button."""
    blocks = [b.section("*This needs your passkey.*"), button(purpose, url), explained()]
    return b.modal(ids.NOTICE, title, blocks, close="Not now")


def message(purpose: Purpose, url: Secret) -> b.Block:
    """For one person alone. The fallback text has no link: that is what phones show, and it may be read aloud."""
    if purpose is Purpose.ADD:
        text = "Add a passkey: your device makes it on the page that this button opens."
    else:
        text = "This needs your passkey. Nothing was recorded yet."
    return b.message(text, [b.section(text), button(purpose, url), explained()])


def listed(found: PasskeysView) -> b.Block:
    """`/countersign passkey`."""
    count = len([one for one in found.mine if one.state == "active"])
    head = f"You have {b.counted(count, 'passkey')}" if count else "You have no passkey"
    blocks = [b.header(head)]
    if not found.is_set_up:
        blocks.append(
            b.section(
                "*Passkeys are not set up.* An admin sets `COUNTERSIGN_PUBLIC_URL` to the https address of"
                " Countersign's web server and starts it again."
            )
        )
    elif found.fault:
        blocks.append(b.section(b.esc(found.fault)))
    if found.mine:
        blocks.append(b.section("\n".join(_line(one) for one in found.mine[:_MOST])))
    if found.others:
        names = [f"{b.mention(person)} {b.counted(n, 'passkey')}" for person, n in found.others[:_MOST]]
        blocks.append(b.section(f"*Other approvers:* {', '.join(names)}"))
    needed = "The policy asks for passkeys." if found.is_needed else "The policy asks for no passkeys."
    blocks.append(
        b.context(
            f"{needed} `/countersign passkey add NAME` · `passkey name ID NAME` · `passkey revoke ID` ·"
            " `passkey lost [@PERSON]`"
        )
    )
    return b.message(head, blocks)


def _line(one: PasskeyView) -> str:
    used = f", last used {b.when(one.used_at)}" if one.used_at else ""
    code = f" · check code *{b.esc(one.code)}*" if one.code and one.state.startswith("waiting") else ""
    print_ = f" · fingerprint `{b.esc(one.fingerprint)}`" if one.fingerprint else ""
    return f"• *{b.esc(one.name)}* `{b.esc(one.id)}`: {_STATES[one.state]}{used}{code}{print_}"
