"""What could be the number of a payment card. Pure; the time it takes grows with the text and no faster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

_LEAST_DIGITS, _MOST_DIGITS = 13, 19


def holds_card_number(groups: Sequence[str]) -> bool:
    """Whether some groups of digits 0 to 9 that follow each other add up as those of a card do.

    A card number has 13 to 19 digits that pass the Luhn check.
    """
    digits = [int(digit) for group in groups for digit in group]
    # Sums of the digits up to each place, with every other digit doubled: from the second on, and from the first on.
    sums = [[0], [0]]
    for place, digit in enumerate(digits):
        doubled = sum(divmod(digit * 2, 10))
        sums[place % 2].append(sums[place % 2][-1] + digit)
        sums[1 - place % 2].append(sums[1 - place % 2][-1] + doubled)
    ends = list(accumulate(map(len, groups), initial=0))
    for first, start in enumerate(ends):
        for end in ends[first + 1 : first + 1 + _MOST_DIGITS]:  # each group has a digit at least
            if end - start > _MOST_DIGITS:
                break
            by = sums[(end - 1) % 2]
            if end - start >= _LEAST_DIGITS and (by[end] - by[start]) % 10 == 0:
                return True
    return False
