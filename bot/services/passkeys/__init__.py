"""Passkeys: adding and ending them, the one-time links to their page, and the signatures that decisions rest on.

ceremonies   what a browser is asked for, and whether its answer is genuine (WebAuthn)
proofs       a signature that counts for one decision, and the same checked again later
enrolment    adding a passkey with others' consent, naming it, ending it, and who has which
links        one-time links to the page
page         opening the page, and what its answer does
page_content what the page shows
readiness    the audit log is read before it is needed, and what is kept of its end
resets       says in Slack that all were reset at the machine
"""

__all__ = ["ceremonies", "enrolment", "links", "page", "page_content", "proofs", "readiness", "resets"]
