"""Countersign: card operations in Slack, with a second signature on everything that moves money.

This package decides; `handlers` talk to people, `storage` remembers. Imports point downward only:

    bot.cli          command line
    bot.app          the only place that constructs things, with
                     bot.entrances, bot.jobs, bot.slack_connection and bot.startup
    bot.web          HTTP in (partner webhooks, health)      a sibling of `handlers`
    bot.services     use cases: each public function is one thing a person or a job does
    bot.engine       what wakes the work up
    bot.intents      plain text to an intent or a question
    bot.operations   one file per kind of operation
    bot.outcomes     pure: what a sent request came to, and what to do next
    bot.partner      typed client of the Card Issuing Partner API; knows neither requests nor Slack
    bot.domain       pure rules: states, approvals, policy, money; no I/O
"""

__version__ = "0.1.0"
