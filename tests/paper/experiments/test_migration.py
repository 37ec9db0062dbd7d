"""Files of the old key get their new names: none is lost, overwritten or taken for another experiment."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from smartcl.cli.app import call
from smartcl.learners.methods import find_method
from smartcl.paper.experiments.compact_results import compacted
from smartcl.paper.experiments.migration import migrate
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.spec import RunSpec

STREAMS = {
    "disjoint-mnist": ("disjoint-mnist", 5, 100),
    "split-mnist-validation": ("split-mnist", 5, 1512),
    "civil-brazil": ("civil-brazil (event-subtype release)", 8, 48),
    "flu-2011-validation": ("flu-2011", 12, 72),
    "newsgroups": ("newsgroups", 10, 39),
}


def old_file(
    folder: Path, dataset: str, noise: str = "none", stream: str | None = None, batches: int | None = None, **more: Any
) -> Path:
    """A file as it was written before the key knew its data, named as it was named then."""
    parameters = more.pop("parameters", {})
    spec = {"dataset": dataset, "method": "er", "memory": "300 samples", "noise": noise, "seed": 0}
    settings = {**find_method("er").parameters, **parameters}
    text = json.dumps({**spec, "parameters": settings}, sort_keys=True)
    name, tasks, made = STREAMS[dataset]
    path = folder / dataset / "er" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "accuracy": 90.0,
        "accuracy_matrix": [[90.0] * tasks] * tasks,
        "accuracy_per_task": [90.0] * tasks,
        "memory_history": {"batches": [1, batches or made]},
        "stream": stream or name,
        "spec": {**spec, "parameters": parameters},
        **more,
    }
    path.write_text(json.dumps(result))
    return path


@pytest.mark.parametrize("dataset", STREAMS)
def test_a_file_moves_to_the_name_its_run_has_today_and_says_the_same(dataset: str, tmp_path: Path) -> None:
    path = old_file(tmp_path, dataset, parameters={"lr": 0.001})
    said, spec = json.loads(path.read_bytes()), RunSpec.of({"lr": 0.001}, dataset=dataset, method="er")
    results = ResultFolder(tmp_path)
    assert results.load(spec) is None
    assert migrate(tmp_path).moved == (path,)
    assert results.load(spec) == compacted(said)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [results.path(spec)]
    again = migrate(tmp_path)
    assert (again.moved, again.current, again.rewritten) == ((), (results.path(spec),), ())


def test_noise_written_in_another_way_is_the_same_run(tmp_path: Path) -> None:
    old_file(tmp_path, "disjoint-mnist", "foreign:0.30")
    assert len(migrate(tmp_path).moved) == 1
    assert ResultFolder(tmp_path).load(RunSpec("disjoint-mnist", "er", noise="foreign:0.3")) is not None


OTHERS: dict[str, dict[str, Any]] = {
    "a stand-in": {"stream": "disjoint-digits (scikit-learn's digits: MNIST could not be had)"},
    "another batch size": {"batches": 50},
    "more epochs": {"batches": 200},
    "no word of its stream": {"stream": ""},
    "a history without batches": {"memory_history": {"batches": []}},
    "a parameter that is no more": {"spec": {"dataset": "disjoint-mnist", "method": "er", "parameters": {"x": 1}}},
    "no spec": {"spec": {}},
}


@pytest.mark.parametrize("case", OTHERS)
def test_another_experiment_is_left_alone(case: str, tmp_path: Path) -> None:
    path = old_file(tmp_path, "disjoint-mnist", **{"stream": None, **OTHERS[case]})
    if case == "no word of its stream":
        path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "stream"}))
    text = path.read_bytes()
    made = migrate(tmp_path)
    assert (made.moved, made.others) == ((), (path,))
    assert path.read_bytes() == text
    assert ResultFolder(tmp_path).load(RunSpec("disjoint-mnist", "er")) is None


def test_other_settings_other_places_and_damage_are_left_alone(tmp_path: Path) -> None:
    stale = old_file(tmp_path, "disjoint-mnist")
    stale = stale.rename(stale.with_stem("0123456789abcdef"))
    astray = old_file(tmp_path / "copy", "disjoint-mnist")
    damaged = old_file(tmp_path, "newsgroups")
    damaged.write_text(damaged.read_text()[:50])
    made = migrate(tmp_path)
    assert set(made.others) == {stale, astray, damaged}
    assert all(path.is_file() for path in made.others)
    assert not made.moved


def test_a_name_that_is_taken_is_not_overwritten(tmp_path: Path) -> None:
    first, second = (old_file(tmp_path, "disjoint-mnist", noise) for noise in ("foreign:0.3", "foreign:0.30"))
    text = {path: path.read_bytes() for path in (first, second)}
    made = migrate(tmp_path)
    assert len(made.moved) == len(made.taken) == 1
    assert made.taken[0].read_bytes() == text[made.taken[0]]
    target = ResultFolder(tmp_path).path(RunSpec("disjoint-mnist", "er", noise="foreign:0.3"))
    assert ResultFolder(tmp_path).read(target) == compacted(json.loads(text[made.moved[0]]))
    assert migrate(tmp_path).taken == made.taken


def test_an_interruption_between_the_two_names_does_no_harm(tmp_path: Path) -> None:
    path = old_file(tmp_path, "disjoint-mnist")
    target = ResultFolder(tmp_path).path(RunSpec("disjoint-mnist", "er"))
    target.hardlink_to(path)
    made = migrate(tmp_path)
    assert (len(made.moved), len(made.current)) == (1, 1)
    assert list(tmp_path.rglob("*.json")) == [target]


def test_the_command_says_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old_file(tmp_path / "results", "disjoint-mnist")
    old_file(tmp_path / "results", "newsgroups", stream="newsgroups (scikit-learn's copy)")
    where = [str(tmp_path / "page.md"), "--results", str(tmp_path / "results")]
    assert call(["results", *where, "--migrate"]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said.startswith(
        "1 result files moved to their present names, 0 had them; 1 written anew; left alone: 0 whose"
    )
    assert "1 that are no run of today's settings and data" in said
    assert "90.00 (1)" in (tmp_path / "page.md").read_text()


@pytest.mark.parametrize(("precision", "moves"), [("plain", True), ("auto", False)])
def test_a_run_from_before_a_setting_is_a_run_with_the_value_that_changes_nothing(
    precision: str, moves: bool, tmp_path: Path
) -> None:
    spec = RunSpec.of({"precision": precision}, dataset="disjoint-mnist", method="smart")
    settings = {name: value for name, value in spec.settings.items() if name != "precision"}
    text = json.dumps({**spec.as_dict(), "parameters": settings, "protocol": spec.protocol}, sort_keys=True)
    path = tmp_path / "disjoint-mnist" / "smart" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"accuracy": 90.0, "spec": spec.as_dict()}))
    found = migrate(tmp_path)
    assert (found.moved == (path,), found.others == (path,)) == (moves, not moves)
    assert ResultFolder(tmp_path).path(spec).exists() == moves


def test_a_file_that_says_too_much_is_shortened_where_it_is(tmp_path: Path) -> None:
    results, spec = ResultFolder(tmp_path), RunSpec("disjoint-mnist", "er")
    whole = {"accuracy": 90.123456789, "accuracy_matrix": [[90.123456789]], "spec": spec.as_dict()}
    results.path(spec).parent.mkdir(parents=True)
    results.path(spec).write_text(json.dumps(whole))
    made = migrate(tmp_path)
    assert (made.current, made.rewritten) == ((results.path(spec),), (results.path(spec),))
    assert results.load(spec) == {**whole, "accuracy_matrix": [[90.1]]}
    assert migrate(tmp_path).rewritten == ()


def test_a_run_at_what_was_the_default_says_so_when_it_is_none_any_more(tmp_path: Path) -> None:
    """``smart`` kept its values plainly once, and a file of that time does not say how."""
    results, spec = ResultFolder(tmp_path), RunSpec("disjoint-mnist", "smart")
    plain = RunSpec.of({"precision": "plain"}, dataset="disjoint-mnist", method="smart")
    assert plain.key != spec.key
    for named in (plain, spec):
        results.save(named, {"accuracy": 90.0, "accuracy_matrix": [[90.0]], "spec": spec.as_dict()})
    made = migrate(tmp_path)
    assert sorted(made.current) == sorted([results.path(plain), results.path(spec)])
    assert made.rewritten == (results.path(plain),)
    said = [results.load(named)["spec"]["parameters"] for named in (plain, spec)]
    assert said == [{"precision": "plain"}, {}]
    assert migrate(tmp_path).rewritten == ()
