"""How many times the usual steps a network takes on a batch."""

from __future__ import annotations

import math

#: Of a young stream there is little to learn, and it can be learned more often: those without guards take up to so many
#: times the steps, fewer with each of so many batches; and after the first few, as far as they are ahead of the guarded
#: one in the answers to coming batches: where labels are wrong they are not.
EAGER, EAGER_BATCHES, FIRST_FEW, AHEAD = 5.0, 40, 4, 0.05
#: Where the scout, who knows nothing of the past, is so far ahead, the plain one takes so many times the steps.
OUTPACED, CATCHES_UP = 0.1, 2.0


def eagerness(batches: int, ahead: float) -> float:
    """How many times the steps those without guards take after so many batches, so far ahead of the guarded one.

    >>> eagerness(0, ahead=0.0), eagerness(9, ahead=0.0), eagerness(9, ahead=0.1), eagerness(99, ahead=0.1)
    (5.0, 1.0, 4.0, 1.0)
    """
    young = max(1.0, min(EAGER, EAGER_BATCHES / (batches + 1)))
    return young if batches < FIRST_FEW else 1 + (young - 1) * share_of(ahead, AHEAD)


def catching_up(behind: float) -> float:
    """How many times the steps the plain network takes that is so far behind one that knows the newest alone.

    >>> catching_up(-0.2), catching_up(0.05), catching_up(0.5)
    (1.0, 1.5, 2.0)
    """
    return 1 + (CATCHES_UP - 1) * share_of(behind, OUTPACED)


def share_of(part: float, whole: float) -> float:
    """From 0 to 1."""
    return min(1.0, max(0.0, part / whole))


def whole_steps(steps: float, batch: int) -> int:
    """So many steps a batch in the mean, of which this batch takes a whole number.

    >>> [whole_steps(0.4, batch) for batch in range(5)]
    [0, 0, 1, 0, 1]
    """
    return math.floor((batch + 1) * steps) - math.floor(batch * steps)
