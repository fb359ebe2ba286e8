"""What a seed does: a list of steps, each with everything it needs drawn beforehand.

A seed takes some kinds of requests and some kinds of trouble, not all of them ("swarm testing"): what is rare among
everything is frequent where little else happens. Few cards, few names and few people, so that requests collide.
Steps are independent of each other: leaving one out changes nothing in the others, which lets a failing seed shrink.

    words      what plans are drawn from
    steps      a plan and its steps
    requests   somebody asks, others decide
    troubles   everything that may go wrong
    bursts     a few steps each that make two things meet
    draw       the plan of a seed
"""

from tests.simulation.plan.draw import draw
from tests.simulation.plan.steps import Plan, Step
from tests.simulation.plan.words import ENDPOINTS

__all__ = ["ENDPOINTS", "Plan", "Step", "draw"]
