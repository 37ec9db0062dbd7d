"""Every number of the ensemble: its name, its unit, its reason and where it was measured.

"Development streams" are those of ``smartcl reproduce ablation-ensemble``: other data or other seeds than any table.
"""

from __future__ import annotations

# --- feature maps (feature_maps.py) ---------------------------------------------------------------------------------

#: Random ReLU features of a table. 300 gave no more on development streams at twice the time.
RELU_FEATURES = 200
#: Conjunctions of one to three axis-parallel steps of a table: what trees see (agrawal: 78 to 81% for ridge alone).
STEP_FEATURES = 150
#: From this many columns on, rows are images or embeddings: more random features, no steps, no columns themselves.
WIDE = 200
#: Random ReLU features of wide rows. Fashion-MNIST by ridge alone: 86.0 with 2,000, 87.3 with 4,000; 3,800 keep the
#: whole state below 40 MB.
WIDE_FEATURES = 3800
#: Standard deviation of a random feature before its bias, for a row of mean length. 1.3 to 2 gave the same.
GAIN = 1.6
#: Standard deviation of the biases. 0.5 to 0.7 gave the same.
BIAS = 0.6
#: Rows after which the scale of the inputs is fixed, for sums of other scales cannot be added.
SETTLED_ROWS = 800
#: Columns that a sparse row is hashed into, for the sums.
HASHED_FEATURES = 512

#: Rows of a batch, in which forgetting is counted.
BATCH_ROWS = 50

# --- ridge (ridge.py) -----------------------------------------------------------------------------------------------

#: What each batch of 50 rows leaves of the sums before it: all, a memory of 1,700 rows, and one of 500.
FORGETTING = (1.0, 0.97, 0.9)
#: Penalties to choose from by leave-one-out, in rows: so many rows of mean size would shrink the weights as much.
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
#: Rows from which a penalty is chosen; a decomposition of so many takes 0.1 s.
PENALTY_ROWS = 1000
#: Scores of 0 to 1 become log-probabilities times this; the weights learn the rest.
SHARPNESS = 4.0

# --- linear (linear.py) ---------------------------------------------------------------------------------------------

#: Columns that a sparse row is hashed into, for weights by steps: 0.5 MB for two classes.
LINEAR_COLUMNS = 2**16
#: Steps for 50 rows, stored samples that take part in them, and the rate of AdaGrad.
LINEAR_STEPS, LINEAR_REPLAY, LINEAR_RATE = 5, 100, 0.3

# --- neighbours (neighbours.py) -------------------------------------------------------------------------------------

#: Neighbours asked, and of which numbers of newest rows. Without the 100: moving_squares 53 instead of 87, all others
#: within 0.3 (development streams).
NEIGHBOURS = 7
NEIGHBOUR_ROWS = (100, 500, 2000)

# --- trees (trees.py) -----------------------------------------------------------------------------------------------

#: Trees of so many leaves, refitted after so many rows on so many of the newest: 15 ms a fit for two classes.
TREES, LEAVES, REFIT_ROWS, TREE_ROWS = 60, 15, 250, 3000
#: Trees that have less than this share of all weights are refitted ever more seldom.
IDLE_SHARE = 0.1

# --- weighting and calibration (weighting.py, calibration.py) -------------------------------------------------------

#: Rows, answered before they were learned, that the weights of the members are fitted to; older ones count less.
EVIDENCE_ROWS = 500
#: Weights are held to exp(this times accuracy), as strongly as by so many rows. 30 to 100 gave the same accuracy; equal
#: weights 0.3 less, log loss in the place of accuracy 0.1 less (13 development streams).
ACCURACY_WEIGHT, PRIOR_ROWS = 60.0, 100.0
#: How strongly the correction for each class is held to none, in rows.
NO_SHIFT = 20.0
#: Answers that calibration is fitted to, each bin holding so many of them.
CALIBRATION_ROWS, CALIBRATION_BIN = 2000, 25

# --- drift (drift.py) -----------------------------------------------------------------------------------------------

#: Rows over which a long and a short memory are compared, and the standard errors by which the short one must lead.
COMPARED_ROWS, SURE = 500, 3.0
#: Errors of a batch have jumped if they exceed the usual ones by so many standard errors and most answers are wrong:
#: without the latter, unfamiliar regions of covtype were taken for changes (94.3 instead of 95.1).
JUMP, MOSTLY_WRONG = 6.0, 0.5
#: What is left of earlier evidence after a jump.
AFTER_JUMP = 0.1
#: At most so many of the newest rows are taken to be of the time after a change; less if errors have just jumped.
NEWEST_ROWS = 250
#: Rows after a change in which no other is looked for.
CALM_ROWS = 500
#: The share of the past's inputs still covered by new ones, below which a lead of the short memory means a new task.
SAME_INPUTS = 0.9
#: Inputs are surely others if what they cover is below that by so many standard errors.
SURELY_OTHER = 2.0
#: Sums kept of the time before a change, to know it again.
SNAPSHOTS = 2

#: A class stays away if it has less than this share of what each class would have of the newest rows at even shares.
AWAY = 0.02

# --- samples (sampling.py) ------------------------------------------------------------------------------------------

#: One row in so many is held out of learning, until so many are held; then one in so many.
HELD_OUT_ONE_IN, ENOUGH_HELD_OUT, LATER_ONE_IN = 20, 100, 50
#: Rows between two looks at held-out rows of the past, and at most so many are looked at.
LOOK_ROWS, ASKED_HELD_OUT = 250, 300
#: One look that finds the inputs of the past again counts for so much, and from here on they are familiar: a single
#: look is wrong too often (one in four on images with half of the labels wrong).
LOOK_COUNTS, FAMILIAR = 0.1, 0.5
#: Rows of the newest and of the older samples that are compared for what inputs they have in common, by so many of
#: their features, and the penalty of that comparison in rows.
COVERAGE_ROWS, COVERAGE_FEATURES, SEPARATION_ROWS = 600, 500, 10.0
#: The share of the memory's room for the newest samples is between these, by how much of the past they cover.
LEAST_RECENT, MOST_RECENT = 0.1, 0.9

# --- networks (network.py) ------------------------------------------------------------------------------------------

#: Rows for which a network takes steps before it is asked whether they add anything.
TRIAL_ROWS, WIDE_TRIAL_ROWS = 750, 5000
#: Rows before the first trial of a network on narrow rows; and how many times as many before the next one.
FIRST_TRIAL, LATER_TRIAL = 1000, 4
#: A network goes on only if the pool's log loss is lower with it by this many nats a row, and by two standard errors.
WORTH = 0.005
