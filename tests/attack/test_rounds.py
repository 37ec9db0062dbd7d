"""``python -m benchmarks attack`` with options: seeds that are told, a time limit, the corpus, planted faults."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benchmarks.attack import __main__ as attacks
from benchmarks.attack import bad_inputs, corpus, digits, streams
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The parts in place of the real ones that fault at seeds divisible by 7, and which were run with which seed."""
    made: list[tuple[str, int]] = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name.rpartition(".")[2]

        def attack(self, tries: int, *, seed: int, until: float) -> Findings:
            made.append((self.name, seed))
            return run(planted, range(seed, seed + 10), until=until)

    monkeypatch.setattr(attacks.importlib, "import_module", Part)
    return made


def planted(seed: int) -> str:
    time.sleep(0.002)
    if seed % 7 == 0:
        raise FaultError("a planted fault", "it was planted")
    return SURVIVED


def test_the_seed_is_of_the_date_and_told(calls: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]) -> None:
    attacks.main(["--only", "folders"])
    (_, seed) = calls[0]
    assert f"attack: first seed {seed}\n" in capsys.readouterr().err
    moments = [datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in range(60)]
    seeds = sorted(attacks.seed_of_date(moment) for moment in moments)
    assert seeds == sorted(attacks.seed_of_date(moment) for moment in moments)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert np.diff(seeds).min() > 2000  # no try of one is a try of another


def test_a_planted_fault_is_an_exit_code_and_named_with_its_seed(
    calls: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert attacks.main(["--only", "folders", "--seed", "700"]) == 1
    said = capsys.readouterr().err
    assert "python -m benchmarks attack --only folders --seed 700" in said
    assert "seed 700, 700: it was planted" in said
    assert "2 x a planted fault; first: 700: it was planted" in said
    assert attacks.main(["--only", "folders", "--seed", "700"]) == 1
    assert capsys.readouterr().err.count("seed 707") == said.count("seed 707")
    assert calls == [("folders", 700)] * 2


def test_without_options_it_prints_figures_as_each_benchmark_does(
    calls: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert attacks.main([]) == 0
    told = capsys.readouterr()
    figures = {line["figure"]: (line["measured"], line["wanted"]) for line in json.loads(told.out)}
    assert [part for part, _ in calls] == list(attacks.TRIES)
    for part in attacks.TRIES:
        measured, wanted = figures[f"{part.replace('_', ' ')}: faults"]
        assert measured >= 1, told.err
        assert wanted == "0"


def test_without_a_fault_the_exit_code_is_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(attacks.TRIES, "bad_inputs", 3)
    assert attacks.main(["--only", "bad_inputs", "--seed", "0"]) == 0
    assert "bad_inputs, seed 0: 0 faults of 3" in capsys.readouterr().err


def test_the_time_limit_ends_it_and_each_round_has_its_seed(calls: list[tuple[str, int]]) -> None:
    begin = time.monotonic()
    attacks.main(["--minutes", "0.04", "--seed", "3"])
    assert 2.4 <= time.monotonic() - begin < 30
    seeds = list(dict.fromkeys(seed for _, seed in calls))
    parts = list(attacks.TRIES)
    assert seeds[0] == 3
    first = [part for part, seed in calls if seed == 3]
    assert first == parts[: len(first)]  # all of them, unless the machine is busy with something else
    for before, after in pairwise(seeds):
        assert after == attacks.next_seed(before)


def test_a_part_ends_with_its_time_and_the_try_that_it_is_at() -> None:
    begin = time.monotonic()
    found = run(lambda job: time.sleep(0.1) or SURVIVED, range(1000), until=begin + 1)
    assert time.monotonic() - begin < 10
    assert 1 <= found.tries <= 11
    assert found.broken == 0


def test_who_is_over_before_the_beginning_tries_nothing() -> None:
    assert run(planted, [7], until=time.monotonic()).tries == 0
    assert run(planted, [7], until=NEVER).broken == 1


def test_the_corpus_is_first_and_none_of_it_is_back() -> None:
    assert next(iter(attacks.TRIES)) == "corpus"
    found = corpus.attack(attacks.TRIES["corpus"])
    assert found.tries == len(corpus.CASES) + len(corpus.SEEDS)
    assert not found.described()


def test_a_fault_of_the_corpus_that_is_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def back(root: Path) -> None:
        raise ValueError("as it was")

    monkeypatch.setattr(corpus, "CASES", {"an old fault": back})
    assert corpus.attack(9).described() == [("unexpected ValueError", [f"an old fault: as it was at {here(back)}"])]


def here(function: object) -> str:
    code = function.__code__  # type: ignore[attr-defined]
    return f"{Path(code.co_filename).name}:{code.co_firstlineno + 1}"


@pytest.mark.parametrize("part", [bad_inputs, streams])
def test_a_seed_draws_the_same_tries_and_another_draws_others(part: object, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[list[int]] = []

    def noted(attempt: object, tries: range, **more: object) -> Findings:
        jobs.append(list(tries))
        return Findings()

    monkeypatch.setattr(part, "run", noted)
    for seed in (0, 5, 5):
        part.attack(3, seed=seed)  # type: ignore[attr-defined]
    assert jobs == [[0, 1, 2], [5, 6, 7], [5, 6, 7]]


def test_digits_are_shuffled_by_the_seed() -> None:
    reached = [digits.accuracy("one row first", rows=200, seed=seed) for seed in (1, 1, 2)]
    assert reached[0] == reached[1] != reached[2]


def test_the_benchmarks_pass_options_on_and_write_no_figures() -> None:
    results = (ROOT / "benchmarks" / "results.json").read_bytes()
    command = [sys.executable, "-m", "benchmarks", "attack"]
    done = subprocess.run(
        [*command, "--only", "saves", "--minutes", "0.01", "--seed", "4"],
        **{"cwd": ROOT, "capture_output": True, "text": True, "check": False},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("attack: first seed 4\n")
    assert (ROOT / "benchmarks" / "results.json").read_bytes() == results
    for wrong in (["--seed", "-1"], ["--minutes", "0"], ["--only", "nothing"]):
        with pytest.raises(SystemExit) as ended:
            attacks.main(wrong)
        assert ended.value.code == 2, wrong
