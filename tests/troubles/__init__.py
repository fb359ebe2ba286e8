"""What goes wrong around a bot, played for real: who is notified of it, where, and after how many seconds.

    surroundings   a bot, Slack's stand-in and the simulator, each a process of its own, and the people in it
    timeline       what was seen where, and when
    plays          the troubles

`python -m tests.troubles` plays all of them in about fifteen minutes, and `--write` makes benchmarks/TROUBLES.md again.
"""
