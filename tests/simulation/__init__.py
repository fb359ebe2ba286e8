"""A deterministic simulation: the whole bot and everything around it in one process, one thread, from one seed.

The bot's real parts run (domain, services, storage on SQLite, engine, outbox, pollers, receiver, handlers), and so do
both sandboxes. Time, network, the order in which tasks run, people and everything that goes wrong follow from the
seed, so that what was found once can be seen again:

    python -m tests.simulation --seed 7 --explain     the story of one seed, in sentences
    python -m tests.simulation --seeds 1-200          many; ends with 1 at the first broken promise

    loop            an event loop with a clock of its own, that chooses what runs next by the seed
    inline_sqlite   the database's connections without threads, each statement a place to be interrupted
    network         calls between the bot, the API and Slack, and how they go wrong
    world           the sandboxes, the processes of the bot, and what outlives them
    people          what people do in Slack, by payloads
    plan            what a seed does, step by step
    schedule        a plan carried out, with the checks after every step and at the end
    invariants      what must be true
    shrink          the fewest steps of a plan that still break a promise
    story           a run in sentences
    statements      how a statement of SQLAlchemy gets to SQLite in little time
    many            seeds shared by processes
    planted         bugs put into the bot on purpose, to see that each is found
    violations      each promise broken by hand, to see that its check sees it
    soak            schedules for as long as it is let, and what was proved so far, cumulated in a file
"""
