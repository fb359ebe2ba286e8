"""The world outside: a simulator of the Partner API and a stand-in for Slack.

Nothing here imports the bot, its handlers or its storage: the two sides are independent readings
of the same documents, and check each other.
"""
