"""The names of the methods: to show them, nothing else must be loaded."""

from __future__ import annotations

#: Which module of this folder has which methods, in its own ``METHODS``.
MODULES = {
    "adaptive": ("adaptive",),
    "smart": ("smart", "smart-quick", "smart-paper"),
    "replay": ("er", "gss-greedy", "gss-iqp", "gss-clust", "fss-clust"),
    "gdumb": ("gdumb",),
    "der": ("der++",),
    "er_ace": ("er-ace",),
    "gem": ("gem", "a-gem"),
    "icarl": ("icarl",),
    "regularized": ("l2", "ewc", "ewc-online", "si", "mas", "ncc"),
    "finetune_and_joint": ("finetune", "joint"),
    "learned_as_smart": ("er-smart", "der++-smart", "joint-smart"),
}

#: The method of an estimator and of a training, unless another is asked for.
USUAL_METHOD = "adaptive"
