"""Plain English in a thread: a look-up, a question, a suggestion or a filled form to review.

Nothing said in a conversation makes, approves, rejects or cancels a request.
"""

from bot.services.conversation.dialog import Reader, respond
from bot.services.conversation.facts import Place, ReceivedMessage, holds_card_number

__all__ = [
    "Place",
    "Reader",
    "ReceivedMessage",
    "buttons",
    "holds_card_number",
    "respond",
    "unread",
]
