"""Simulated events in the real data's shape: how much of what was planted SMART finds, and how much else it forgets."""

from __future__ import annotations

import torch

from benchmarks.timing import report
from smartcl.extend import build_learner
from smartcl.paper.datasets.simulated import simulated_events
from smartcl.paper.experiments.feature_ranking import recovery
from smartcl.paper.experiments.task_run import learn

MEMORY = "50 samples"
#: The default, tuned for accuracy on images, and one between the gradients of noise and those of precursors.
STRENGTHS = {1e-4: ("", ""), 0.05: (">= 0.8", ">= 0.9")}

if __name__ == "__main__":
    torch.set_num_threads(1)
    lines = []
    for alpha, (least_found, least_forgotten) in STRENGTHS.items():
        events = simulated_events()
        learner = build_learner("smart", events.stream.spec, MEMORY, alpha=alpha)
        result = learn(learner, events.stream)
        shares = recovery(events, learner.model.network)
        run = f"simulated events, alpha {alpha:g}"
        lines += [
            (f"{run}: planted precursors among as many top features", shares.found, least_found),
            (f"{run}: irrelevant keywords forgotten", shares.forgotten, least_forgotten),
            (f"{run}: mean AUC of the cities", result["auc"], ""),
            (f"{run}: samples held", result["samples_held"], ""),
        ]
    report(*lines)
