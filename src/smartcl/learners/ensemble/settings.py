"""The numbers that say how the ensemble learns: name, unit, reason and where it was measured.

Guards of arithmetic, such as the number of halvings of a Newton step, stand where they are used.

"Development streams" are those of ``smartcl reproduce ablation-ensemble``: other data or other seeds than any table.
"""

from __future__ import annotations

# --- spans of rows, each used wherever something of its kind is counted -----------------------------------------------

#: Rows of a batch: forgetting is counted in batches, and fewer samples than this say nothing.
BATCH_ROWS = 50
#: Rows between two looks: at held-out rows of the past, at trees to refit. At most this number of rows is looked at.
LOOK_ROWS = 250
#: Rows that count as recent: weights are fitted to them, memories are compared on them, and no other change is looked
#: for until this number has come after one. Older rows count less. 250 and 1,000 for the weights gave the same.
RECENT_ROWS = 500
#: From here on a stream is no longer young: the scale of its inputs is fixed, and a network is first tried, for as many
#: rows. Also the most stored rows that penalties are chosen on (0.1 s), and the longest wait between refits of trees
#: (1,000 and then 4,000 rows lost 3 points on random trees that change).
SETTLED_ROWS = 1000
#: Rows for which a network on wide rows is tried; samples looked at again after a change; answers that calibration is
#: fitted to (1,000: AUC 0.86 instead of 0.90 where one row in 300 is an event, other errors of calibration the same).
LONG_ROWS = 5000

# --- shares that mean the same everywhere -----------------------------------------------------------------------------

#: The least probability given to what an answer calls impossible.
LEAST = 0.01
#: Errors and classes rarer than this are as good as none.
RARE = 0.02
#: A share this small counts for little: of the weights, of the memory's room. A look that finds the inputs of the past
#: again counts for this share; five make them familiar again: a single look is wrong too often (one in four on images
#: with half of the labels wrong).
SMALL_SHARE = 0.1
#: Standard errors from which a difference is sure.
SURE = 3.0

# --- feature maps (feature_maps.py) -----------------------------------------------------------------------------------

#: Random ReLU features of a table. 300 gave no more on development streams at twice the time.
RELU_FEATURES = 200
#: Conjunctions of axis-parallel steps of a table, and the most steps of one: what trees see (agrawal: 78 to 81% for
#: ridge alone).
STEP_FEATURES, DEPTH = 150, 3
#: From this many columns on, rows are images or embeddings: more random features, no steps, no columns themselves.
WIDE = 200
#: Random ReLU features of wide rows. Fashion-MNIST by ridge alone: 86.0 with 2,000, 87.3 with 4,000; 3,800 keep the
#: whole state below 40 MB.
WIDE_FEATURES = 3800
#: The number of features of which sums that forget are kept, and by which inputs are compared: those of all would not
#: fit beside the sums of the whole past.
MANY_FEATURES = 501
#: Standard deviations of a random feature for a row of mean length, and of its bias. 1.3 to 2, and 0.5 to 0.7, gave the
#: same.
GAIN, BIAS = 1.6, 0.6
#: How narrow the kernel of random Fourier features is, as a share of scikit-learn's ``gamma="scale"``. On held-out
#: training images of Disjoint MNIST 150, 700 and 2,000 features gave 84.7, 92.1, 94.3 with 1 and 87.0, 93.5, 94.8 with
#: 0.25.
NARROW = 0.25
#: Columns that a sparse row is hashed into, for the sums.
HASHED_FEATURES = 512
#: A feature's scale follows if it is larger or smaller by this factor, or its centre is off by this many scales.
OTHER_SCALE = 4.0

# --- ridge (ridge.py) -------------------------------------------------------------------------------------------------

#: What each batch leaves of the sums before it: all, or a memory of about 500 rows. A third, 0.97, gave nothing in the
#: mean of 28 runs, and went (`smartcl reproduce ablation-ensemble`).
FORGETTING = (1.0, 0.9)
#: Penalties to choose from by leave-one-out: each is the number of mean rows that would shrink the weights as much.
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
#: Scores of 0 to 1 become log-probabilities times this; the weights learn the rest.
SHARPNESS = 4.0

# --- linear (linear.py) -----------------------------------------------------------------------------------------------

#: Columns that a sparse row is hashed into, for weights by steps: 0.5 MB for two classes.
LINEAR_COLUMNS = 2**16
#: Steps for a batch and twice as many stored samples, and the rate of AdaGrad.
LINEAR_STEPS, LINEAR_RATE = 5, 0.3

# --- neighbours (neighbours.py) ---------------------------------------------------------------------------------------

#: Neighbours asked, and of which numbers of newest rows. Without the 100: moving_squares 53 instead of 87, all others
#: within 0.3 (development streams).
NEIGHBOURS = 7
NEIGHBOUR_ROWS = (100, 500, 2000)

# --- the next row (next_row.py) ---------------------------------------------------------------------------------------

#: Nearest neighbours for the very next row, and of how many newest rows. Tried by hand, row by row, on 10,000 rows of
#: covtype and 8,000 of moving_squares: the first adds 1.0 and 6.5 points to the pool alone, the second 0.1 and 0.0 to
#: the first and the last label. The regression remembers as many rows as the smallest of ``NEIGHBOUR_ROWS``.
NEAREST = ((3, 50), (1, 10))

# --- trees (trees.py) -------------------------------------------------------------------------------------------------

#: The number of trees, the leaves of each, and the newest rows that they are fitted to: 8 ms a fit for two classes.
#: Trees alone, tried by hand on covtype from row 300,000, flights from 150,000, sea_big from 20,000 and a made stream,
#: refitted every 500 rows: 95.7, 71.0, 87.7, 72.9; twice as many at half the rate: 95.8, 71.4, 87.8, 73.4.
TREES, LEAVES, TREE_ROWS = 30, 15, 3000

# --- weighting (weighting.py) -----------------------------------------------------------------------------------------

#: Weights are held to exp(this times accuracy), as strongly as by this number of rows. 30 to 100 gave the same
#: accuracy; 120 lost 1.3 where a third of the labels is wrong; equal weights gave 0.3 less, log loss in the place of
#: accuracy 0.1 less.
ACCURACY_WEIGHT, PRIOR_ROWS = 60.0, 100.0
#: How strongly the correction for each class is held to none, in rows.
NO_SHIFT = 20.0

# --- drift (drift.py) -------------------------------------------------------------------------------------------------

#: What is left of earlier evidence after a jump of the errors.
AFTER_JUMP = 0.1
#: The share of the past's inputs still covered by new ones, below which a lead of the short memory means a new task.
SAME_INPUTS = 0.9
#: Sums kept of the time before a change, to know it again.
SNAPSHOTS = 2

# --- samples (sampling.py) --------------------------------------------------------------------------------------------

#: The share of rows that are held out of learning, to judge the past by. 0.02 gave the same within 0.3 on three
#: development streams, one seed.
HELD_OUT_SHARE = 0.03

# --- members that rest (network.py, trees.py) -------------------------------------------------------------------------

#: A network goes on only if the pool's log loss is lower with it by this many nats a row, and surely so.
WORTH = 0.005
#: A network that adds nothing is tried again when the stream is this many times as long.
LATER = 4
