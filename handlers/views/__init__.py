"""Views: a value in, Slack blocks out. Pure functions; no I/O, no clock, nothing of Slack's library."""
