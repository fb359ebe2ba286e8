"""A plan carried out in a world of its own.

stage          what every step has at hand
requests       steps in which people ask, decide, look
operators      steps in which people come and go, or stop and start sending
surroundings   steps of the network, the API, Slack, money
machine        steps of processes, clocks, disk, data
calm           the end: trouble stops, time passes, the last checks
run            all of it, in order
"""

from tests.simulation.schedule.run import Result, Schedule, run

__all__ = ["Result", "Schedule", "run"]
