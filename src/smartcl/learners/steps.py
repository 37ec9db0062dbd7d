"""How many times the usual steps a network takes on a batch."""

from __future__ import annotations

import math

#: Of a young stream there is little to learn, and it can be learned more often: those without guards take up to so many
#: times the steps, fewer with each of so many batches; and after the first few, as far as they are ahead of the guarded
#: one in the answers to coming batches: where labels are wrong they are not.
EAGER, EAGER_BATCHES, FIRST_FEW, AHEAD = 5.0, 40, 4, 0.05
#: Who errs less often than so about what comes next has little left to learn of it; the scout, who is for that alone,
#: then takes fewer steps, down to so many of them.
ERRING, LEAST_WATCHFUL = 0.05, 0.25
#: Where the scout, who knows nothing of the past, is so far ahead, the plain one takes so many times the steps.
OUTPACED, CATCHES_UP = 0.1, 2.0


def eagerness(batches: int, ahead: float, errors: float) -> float:
    """How many times the steps those without guards take after so many batches, so far ahead of the guarded one.

    They err so often about what comes next: the seldomer, the less is left to be eager for.

    >>> [eagerness(batches, ahead, errors=0.2) for batches, ahead in ((0, 0.0), (9, 0.0), (9, 0.1), (99, 0.1))]
    [5.0, 1.0, 4.0, 1.0]
    >>> eagerness(2, ahead=0.0, errors=0.0125)
    2.0
    """
    more = max(1.0, min(EAGER, EAGER_BATCHES / (batches + 1))) - 1
    return 1 + more * share_of(errors, ERRING) * (1.0 if batches < FIRST_FEW else share_of(ahead, AHEAD))


def catching_up(behind: float) -> float:
    """How many times the steps the plain network takes that is so far behind one that knows the newest alone.

    >>> catching_up(-0.2), catching_up(0.05), catching_up(0.5)
    (1.0, 1.5, 2.0)
    """
    return 1 + (CATCHES_UP - 1) * share_of(behind, OUTPACED)


def watchfulness(errors: float) -> float:
    """How many of its steps the scout takes that errs so often about what comes next.

    >>> watchfulness(0.2), watchfulness(0.025), watchfulness(0.0)
    (1.0, 0.5, 0.25)
    """
    return max(LEAST_WATCHFUL, share_of(errors, ERRING))


def share_of(part: float, whole: float) -> float:
    """From 0 to 1."""
    return min(1.0, max(0.0, part / whole))


def whole_steps(steps: float, batch: int) -> int:
    """So many steps a batch in the mean, of which this batch takes a whole number.

    >>> [whole_steps(0.4, batch) for batch in range(5)]
    [0, 0, 1, 0, 1]
    """
    return math.floor((batch + 1) * steps) - math.floor(batch * steps)
