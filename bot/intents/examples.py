"""Example sentences: for each intent what a person may write, as the bot, the manual and the tests show it.

The sentences name the cards of the demo and of docs/conversation.md. A test reads every one of them as its intent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Example:
    """The sentences of one intent. What is empty is not shown there.

    `documented` stand in docs/conversation.md; of an action they are complete, so that the form opens. `suggested`
    is shown where a text was not understood, with a card of the directory in place of {card} and {name}. `prompt` is
    (title, message) of a prompt that Slack offers where a conversation begins (handlers/slack_api/agent.py,
    manifest.yml). `template` is the sentence that the language model's pieces are put into: {card} and the like are
    pieces, what stands in [] is left out where its piece is missing.
    """

    documented: tuple[str, ...] = ()
    suggested: str = ""
    prompt: tuple[str, str] | None = None
    template: str = ""

    @property
    def said(self) -> tuple[str, ...]:
        """Every sentence of it that a person can write as it stands."""
        shown = (self.suggestion("3018", "Nora"), self.prompt[1] if self.prompt else "")
        return tuple(dict.fromkeys([*self.documented, *filter(None, shown)]))

    def suggestion(self, card: str, name: str) -> str:
        """What is suggested of a card with these last four digits and this holder's first name.

        Empty where it has no suggestion, or names a card by what is empty here.
        """
        lacks = ("{card}" in self.suggested and not card) or ("{name}" in self.suggested and not name)
        return "" if lacks else self.suggested.format(card=card, name=name)


#: Intent -> its examples. Suggestions that fit a text equally well are shown in this order.
EXAMPLES: Final[Mapping[str, Example]] = {
    "float_status": Example(
        documented=("what's our float now", "how many days of cover do we have"),
        suggested="what's our float now",
        prompt=("Float", "What's our float now?"),
        template="what's our float now",
    ),
    "card_list": Example(
        documented=("list the cards on hold", "which cards are frozen"),
        suggested="list the cards on hold",
        template="list the cards[ {status}]",
    ),
    "card_show": Example(
        documented=("tell me about 3018", "is Hugo's card frozen"),
        suggested="tell me about {card}",
        template="tell me about card {card}",
    ),
    "card_balance": Example(
        documented=("balance of Nora's card", "how much is on 9140"),
        suggested="balance of {name}'s card",
        template="balance of card {card}",
    ),
    "card_transactions": Example(
        documented=(
            "purchases on 2675 this week",
            "tx on 3018 last 24h",
            "purchases at Shell on 3018 this week",
            "payments above 200 on 9140",
            "refunds on 3018",
        ),
        suggested="purchases on {card} this week",
        template="purchases on card {card}[ {period}]",
    ),
    "decline_explain": Example(
        documented=("why does 3018 get refused", "why can't nora pay"),
        suggested="why does {card} get refused",
        template="why does card {card} get declined[ {period}]",
    ),
    "funding_list": Example(
        documented=("fundings in review", "any funding in flight?", "rejected fundings in october"),
        suggested="fundings in review",
        prompt=("Fundings in review", "Which fundings are in review?"),
        template="list the fundings[ {period}]",
    ),
    "funding_show": Example(
        documented=("what happened to the polygon funding from yesterday",),
        template="where is funding {hash}",
    ),
    "funding_addresses": Example(
        documented=("funding address on BNB", "where do we send the usdt"),
        suggested="funding address on BNB",
        template="funding address[ on {network}]",
    ),
    "fees_show": Example(
        documented=("show the fee schedule", "what's our markup right now"),
        suggested="show the fee schedule",
        template="show the fee schedule",
    ),
    "ledger_show": Example(
        documented=("ledger of the past two weeks", "float movements yesterday"),
        suggested="ledger of the past two weeks",
        template="ledger[ {period}]",
    ),
    "pending_approvals": Example(
        documented=(
            "which requests need my decision",
            "what's waiting for approval",
            "what is pending for Dave",
        ),
        suggested="which requests need my decision",
        prompt=("Waiting for me", "Which requests need my decision?"),
        template="which requests need my decision",
    ),
    "request_show": Example(
        documented=(
            "what did Bob request yesterday",
            "who approved R-7K3M",
            "what is the state of R-7K3M",
            "has my last request been approved",
        ),
    ),
    "card_requests": Example(
        documented=("what was the last request for 3018", "who approved the last top-up on Nora's card"),
        suggested="what was the last request for {card}",
        template="requests about card {card}",
    ),
    "spend_show": Example(
        documented=(
            "what did we spend this month",
            "how much did Hugo spend last week",
            "spend at Shell this week",
        ),
        suggested="what did we spend this month",
        template="how much did we spend[ {period}]",
    ),
    "alerts_show": Example(
        documented=("open alerts please", "anything on fire"),
        suggested="open alerts please",
        template="open alerts please",
    ),
    "undo": Example(documented=("undo that", "undo the top-up on 3018", "cancel my last request")),
    "pause_sending": Example(documented=("pause everything", "stop all sending")),
    "help": Example(
        documented=("what can you do", "how do I top up a card"),
        prompt=("Help", "help"),
    ),
    "order_card": Example(
        documented=("order a card for Carla Mendes, +351 912 345 678, carla@example.com",),
        suggested="order a card for Hugo Okonkwo",
    ),
    "topup_card": Example(
        documented=("load 85 onto 9140", "put 2.4k on 3018", "5521 needs a top up of 120 usd"),
        suggested="load 85 onto {card}",
        prompt=("Top up a card", "Top up a card"),
        template="load {amount} onto card {card}",
    ),
    "unload_card": Example(
        documented=("take 40 off 3018", "move 25 usd from Nora's card back to the float"),
        suggested="take 20 off {card}",
        template="take {amount} off card {card}",
    ),
    "freeze_card": Example(
        documented=("pause Ines's card", "can you freeze 9140", "put 9140 on hold, please"),
        suggested="freeze card {card}",
        prompt=("Freeze a card", "Freeze a card"),
        template="freeze card {card}",
    ),
    "unfreeze_card": Example(
        documented=("lift the freeze on 3018", "turn 3018 back on"),
        suggested="unfreeze card {card}",
        template="unfreeze card {card}",
    ),
    "close_card": Example(documented=("close 2675 for good",), template="close card {card}"),
    "set_limits": Example(
        documented=("weekly limit 900 for 3018", "lower the daily limit on 9140 from 300 to 150"),
        suggested="weekly limit 900 for card {card}",
    ),
    "change_phone": Example(documented=("3018 has the new number +47 912 34 567",)),
    "set_3ds": Example(documented=("send 3018's purchase codes to our webhook",)),
    "set_markup": Example(documented=("deposit markup 0.8%", "change our markup to 125 bps")),
}
