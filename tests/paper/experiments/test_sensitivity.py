"""Which runs are points of the sensitivity figure, and of which strength."""

from __future__ import annotations

from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import EXACT_VALUES
from smartcl.paper.experiments.sensitivity import sensitivity_points


def run(accuracy, method="smart", memory="300 samples", noise="none", **parameters):
    exact = EXACT_VALUES if method == "smart" else {}
    spec = RunSpec.of({**exact, **parameters}, dataset="disjoint-mnist", method=method, memory=memory, noise=noise)
    return spec.as_dict(), {"accuracy": accuracy}


def test_a_point_is_the_mean_of_the_runs_that_change_nothing_but_its_strength():
    points = sensitivity_points(
        [
            run(90.0, alpha=0.01),
            run(94.0, alpha=0.01),
            run(80.0, alpha=0.01, beta=0.5),  # two strengths at once
            run(70.0, alpha=0.01, lr=0.01),  # something else
            run(71.0, alpha=0.01, precision="auto"),
            run(60.0, alpha=0.01, memory="100 samples"),
            run(50.0, method="er"),
            run(95.0, beta=0.5, noise="foreign:0.3"),
        ]
    )
    assert [(p["parameter"], p["method"], p["noise"], p["value"], p["mean"], p["n"]) for p in points] == [
        ("alpha", "smart", "none", 0.01, 92.0, 2),
        ("beta", "smart", "foreign:0.3", 0.5, 95.0, 1),
    ]
    assert points[0]["std"] == 8**0.5
    assert points[1]["std"] is None


def test_the_default_run_is_a_point_of_both_even_if_it_names_its_defaults():
    defaults = RunSpec("disjoint-mnist", "smart").settings
    for named in ({}, {"alpha": defaults["alpha"], "beta": defaults["beta"]}):
        points = sensitivity_points([run(97.0, **named)])
        assert [(p["parameter"], p["value"]) for p in points] == [
            ("alpha", defaults["alpha"]),
            ("beta", defaults["beta"]),
        ]
