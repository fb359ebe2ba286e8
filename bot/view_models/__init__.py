"""What Slack shows, as values: services fill them, `handlers.views` draws them.

Frozen dataclasses without behaviour. They know the domain and the operation kinds, and nothing of Slack, SQL or
the services, so that views stay pure.
"""

from bot.view_models.alerts import (
    AlertChartView,
    AlertLineView,
    AlertsView,
    AlertView,
    AnchorView,
    DigestView,
    MuteView,
)
from bot.view_models.cards import CardListView, CardView
from bot.view_models.conversation import (
    Choice,
    Form,
    Guarded,
    Help,
    Look,
    Lost,
    Offer,
    Offers,
    Question,
    Step,
    Words,
)
from bot.view_models.messages import MessageView, PlainView
from bot.view_models.money import AddressView, FloatHistory, FloatPoint, FloatView, FundingView, RunwayView
from bot.view_models.operators import CodeView, DelegationView, PolicyRow, PolicyView, WebhookView, WhoView
from bot.view_models.requests import (
    BatchConfirmation,
    BatchView,
    BulkPreviewView,
    BulkRowView,
    Confirmation,
    DirectView,
    InboxView,
    LineView,
    LinkView,
    RequestView,
    ResultsView,
)
from bot.view_models.status import (
    CodePerson,
    Freshness,
    HomeTabView,
    OpenFunding,
    ProgramState,
    StatusView,
    WhatIfView,
)

__all__ = [
    "AddressView",
    "AlertChartView",
    "AlertLineView",
    "AlertView",
    "AlertsView",
    "AnchorView",
    "BatchConfirmation",
    "BatchView",
    "BulkPreviewView",
    "BulkRowView",
    "CardListView",
    "CardView",
    "Choice",
    "CodePerson",
    "CodeView",
    "Confirmation",
    "DelegationView",
    "DigestView",
    "DirectView",
    "FloatHistory",
    "FloatPoint",
    "FloatView",
    "Form",
    "Freshness",
    "FundingView",
    "Guarded",
    "Help",
    "HomeTabView",
    "InboxView",
    "LineView",
    "LinkView",
    "Look",
    "Lost",
    "MessageView",
    "MuteView",
    "Offer",
    "Offers",
    "OpenFunding",
    "PlainView",
    "PolicyRow",
    "PolicyView",
    "ProgramState",
    "Question",
    "RequestView",
    "ResultsView",
    "RunwayView",
    "StatusView",
    "Step",
    "WebhookView",
    "WhatIfView",
    "WhoView",
    "Words",
]
