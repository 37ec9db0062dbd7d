"""A model that learns while it answers: nothing acknowledged is lost or learned twice, whatever happens to it."""

from __future__ import annotations

import errno
import json
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served_rows import items, labelled_rows, learn, one_model, settle, state_of

from smartcl.columns.nested import columns_of
from smartcl.columns.records import Records
from smartcl.files.table_model import TableModel
from smartcl.files.training import train_stream
from smartcl.serve import row_journal as journal_module
from smartcl.serve.bodies import Item
from smartcl.serve.limits import Limits
from smartcl.serve.refusals import RefusedError
from smartcl.serve.served_model import ServedModel

ROWS = labelled_rows(600)
#: Rows wait for a full batch, so that steps do not depend on when requests come.
FULL_BATCHES = {"gather_seconds": 1e9}


def fall(served: ServedModel) -> None:
    """What a kill leaves: the folder as it is."""
    served.save_if_due = lambda now: 1.0  # type: ignore[method-assign]
    served.call(lambda: served.close(save=False)).result(10)  # type: ignore[attr-defined]


def chances(served: ServedModel) -> np.ndarray[Any, Any]:
    return served.predict([Item(row) for row, _ in ROWS[-20:]]).probabilities


def test_it_learns_what_the_library_learns(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", **FULL_BATCHES) as served:
        for first, count in ((0, 1), (1, 49), (50, 120), (170, 130)):
            accepted = served.accept(items(ROWS[first : first + count]))
            [future.result(10) for future in accepted.durable]
        settle(served)
        assert served.model is not None
        mine, schema = state_of(served.model), served.model.schema
    settings: dict[str, Any] = {"method": "er", "hidden": (8,), "iterations": 1, "random_state": 0}
    rows = [(row, label) for row, label in ROWS[:300]]
    model = train_stream(rows, memory="20kB", schema=schema, **settings)
    model.progress.marks, model.progress.beginnings = {}, {}
    assert state_of(model) == mine


@pytest.mark.parametrize("seed", range(4))
def test_after_falls_it_is_the_one_that_never_fell(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    steps = [draw.choice(["learn", "learn", "predict", "label", "save", "fall", "repeat"]) for _ in range(40)]

    def live(folder: Path, falls: bool) -> tuple[Any, ...]:
        order, place, said = random.Random(seed + 100), 0, list[str]()
        served_by = one_model(folder, **FULL_BATCHES)
        served = served_by.__enter__()
        learn_all(served, items(ROWS[:60], "a"))
        for number, step in enumerate(steps):
            if step == "learn":
                count = order.randint(1, 30)
                learn_all(served, items(ROWS[place : place + count], f"{number}-"))
                place += count % 7
            elif step == "predict":
                settle(served, left=50)  # or the answers would be those of another version
                served.predict([Item(row, None, f"p{number}-{at}") for at, (row, _) in enumerate(ROWS[400:410])])
                said += [f"p{number}-{at}" for at in range(10)]
            elif step == "label" and said:
                known = said.pop(order.randrange(len(said)))
                learn_all(served, [Item(None, "yes", known)])
            elif step == "repeat":
                learn_all(served, items(ROWS[:40], "a"))
            elif falls and step == "save":
                served.call(served.save).result(10)  # type: ignore[attr-defined]
            elif falls and step == "fall":
                settle(served, left=50)
                served.journal.sync()
                fall(served)
                served_by.gen.close()  # type: ignore[attr-defined]
                served_by = one_model(folder, **FULL_BATCHES)
                served = served_by.__enter__()
        settle(served, left=50)
        assert served.model is not None
        pending = {known: served.pending.get(known) for known in said}
        assert None not in pending.values()
        rows = [each and each.row for each in pending.values()]
        found = (state_of(served.model), served.queued, rows, served.known.state_dict()["digests"].tolist())
        told = (*found, served.answered.state_dict(), repr(served.model.scores_))
        served_by.__exit__(None, None, None)
        return told

    never, fallen = live(tmp_path / "a", falls=False), live(tmp_path / "b", falls=True)
    assert fallen == never


def learn_all(served: ServedModel, given: list[Item]) -> None:
    for future in served.accept(given).durable:
        future.result(10)


def test_a_row_with_a_known_id_is_learned_once(tmp_path: Path) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:50], "a"))
        again = learn(served, items(ROWS[40:60], "a", first=40))
        assert (again.rows, again.repeated, served.version) == (10, 10, 60)
        first, second = learn(served, items(ROWS[:5]), key="k"), learn(served, items(ROWS[:5]), key="k")
        assert ((first.rows, first.repeated), (second.rows, second.repeated)) == ((5, 0), (0, 5))
        within = learn(served, [Item(ROWS[0][0], "yes", "x"), Item(ROWS[1][0], "yes", "x")])
        assert (within.rows, within.repeated, served.version) == (1, 1, 66)


def test_an_id_that_is_being_written_is_not_learned_twice(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", sync_seconds=0.2) as served:
        first, second = served.accept(items(ROWS[:30], "a")), served.accept(items(ROWS[:30], "a"))
        assert not second.durable[0].done()
        [future.result(10) for future in (*first.durable, *second.durable)]
        settle(served)
        assert (first.rows, second.rows, second.repeated, served.version) == (30, 0, 30, 30)


def test_a_late_label_counts_for_what_was_answered_at_the_time(tmp_path: Path) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:60]))
        row = ROWS[100][0]
        answers = served.predict([Item(row, None, "p")])
        learn(served, items(ROWS[200:400]))
        wrong = next(name for name in answers.classes if name != answers.best(0))
        learn(served, [Item(None, wrong, "p"), Item(None, "yes", "never predicted")])
        assert (served.answered.rows, served.answered.right, served.counts.unknown) == (1, 0, 1)
        mistake = served.answered.mistakes[0]
        assert (mistake["version"], mistake["sure"], mistake["row"]) == (60, max(answers.of(0).values()), row)
        assert served.answered.log_loss == pytest.approx(-np.log(answers.of(0)[wrong]))
        assert served.version == 261


def test_too_many_rows_are_refused_whole_and_come_later(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", Limits(queued_rows=60), **FULL_BATCHES) as served:
        learn_all(served, items(ROWS[:45]))
        with pytest.raises(RefusedError) as refused:
            served.accept(items(ROWS[45:65]))
        assert (refused.value.status, served.queued) == (429, 45)
        assert refused.value.retry_after is not None
        assert refused.value.retry_after >= 1
        learn_all(served, items(ROWS[45:55]))
        settle(served, left=50)
        learn_all(served, items(ROWS[45:65]))


def test_more_labels_than_there_may_be_are_refused(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", Limits(classes=3)) as served:
        learn(served, items(ROWS[:30]))
        learn(served, [Item(ROWS[0][0], "maybe")])
        with pytest.raises(RefusedError, match="more than 3 different labels"):
            served.accept([Item(ROWS[0][0], "never")])


def test_a_full_disk_refuses_rows_and_takes_them_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:40], "a"))

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as disk:
            disk.setattr(journal_module.os, "write", full)
            accepted = served.accept(items(ROWS[40:60], "b"))
            with pytest.raises(RefusedError, match="No space left"):
                accepted.durable[0].result(10)
            assert (served.version, served.queued) == (40, 0)
            assert "journal" in served.troubles
            assert chances(served).shape == (20, 2)
        again = learn(served, items(ROWS[40:60], "b"))
        assert (again.rows, again.repeated, served.version, served.troubles) == (20, 0, 60, {})


def test_a_save_that_fails_keeps_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:40]))

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as disk:
            disk.setattr(TableModel, "save", full)
            assert not served.call(served.try_to_save).result(10)  # type: ignore[attr-defined]
        assert "No space left" in served.troubles["save"]
        held = state_of(served.model)  # type: ignore[arg-type]
        fall(served)
    with one_model(tmp_path / "model") as served:
        assert state_of(served.model) == held  # type: ignore[arg-type]


def test_rows_that_are_predicted_and_never_learned_do_not_fill_the_disk(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", Limits(pending_bytes=20_000), journal_bytes=50_000) as served:
        learn(served, items(ROWS[:40]))
        largest = 0
        for first in range(0, 1000, 10):
            rows = [Item(row, None, f"{first + place}") for place, (row, _) in enumerate(ROWS[100:110])]
            served.predict(rows)
            if first % 200 == 190:  # the journal's thread writes, and the learner's looks whether a save is due
                served.sync()
                served.call(lambda: served.save_if_due(0.0)).result(10)  # type: ignore[attr-defined]
            largest = max(largest, served.journal.nbytes)
        waiting = len(served.pending)
        assert largest < 200_000
        assert served.counts.saves >= 2
        fall(served)
    with one_model(tmp_path / "model", Limits(pending_bytes=20_000)) as served:
        assert len(served.pending) == waiting


def test_it_goes_back_to_a_saved_version_and_stays_there(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", versions=2) as served:
        held = {}
        for first in (0, 100, 200):
            learn(served, items(ROWS[first : first + 100], "r", first))
            served.call(served.save).result(10)  # type: ignore[attr-defined]
            held[served.version] = chances(served)
        learn(served, items(ROWS[300:350], "r", 300))
        assert served.versions.there() == [200, 300]
        with pytest.raises(RefusedError, match="no saved version 100"):
            served.call(lambda: served.go_back(100)).result(10)  # type: ignore[attr-defined]
        served.call(lambda: served.go_back(200)).result(10)  # type: ignore[attr-defined]
        assert (served.version, served.versions.there()) == (200, [200])
        assert np.array_equal(chances(served), held[200])
        again = learn(served, items(ROWS[190:210], "r", 190))  # what was gone back from may come again
        assert (again.rows, again.repeated) == (10, 10)
        expected = chances(served)
        fall(served)
    with one_model(tmp_path / "model") as served:
        assert np.array_equal(chances(served), expected)


def test_it_goes_back_to_the_model_that_was_trained(tmp_path: Path) -> None:
    given = [({**row, "label": label}, label) for row, label in ROWS[:100]]
    settings: dict[str, Any] = {"method": "er", "hidden": (8,), "iterations": 1, "random_state": 0}
    trained = train_stream(given, "label", out=tmp_path / "model", memory="20kB", **settings)
    with one_model(tmp_path / "model") as served:
        first = chances(served)
        assert served.versions.there() == [trained.progress.rows]
        learn(served, items(ROWS[100:200], "r"))
        assert not np.array_equal(chances(served), first)
        served.call(lambda: served.go_back(100)).result(10)  # type: ignore[attr-defined]
        assert np.array_equal(chances(served), first)
        again = learn(served, items(ROWS[100:200], "r"))
        assert (again.rows, again.repeated) == (100, 0)


def test_a_label_that_comes_too_late_is_told_so(tmp_path: Path) -> None:
    with one_model(tmp_path / "model", Limits(pending_seconds=1)) as served:
        learn(served, items(ROWS[:40]))
        served.predict([Item(ROWS[0][0], None, "late")])
        time.sleep(1.1)
        accepted = learn(served, [Item(None, "yes", "late")])
        assert (accepted.rows, accepted.unknown, served.pending.expired) == (0, ["late"], 1)


def test_a_shadow_takes_over_when_it_is_better(tmp_path: Path) -> None:
    turned = [(row, "no" if label == "yes" else "yes") for row, label in ROWS]
    # the quick network answers no better than a guess: which of two guesses is right more often is a toss
    with one_model(tmp_path / "model", settings={"members": ["ridge"]}) as served:
        learn(served, items(ROWS[:300]))
        held = chances(served)
    with one_model(tmp_path / "model", shadow_rows=200) as served:
        learn(served, items(turned[:150]))
        assert served.version == 300
        assert np.array_equal(chances(served), held)
        assert served.shadow is not None
        assert served.shadow.as_dict()["rows"] == 150
        fall(served)
    with one_model(tmp_path / "model", shadow_rows=200) as served:
        assert served.shadow is not None
        assert (served.version, served.shadow.rows) == (300, 150)
        for first in range(150, 600, 150):
            learn(served, items(turned[first : first + 150]))
        assert served.counts.take_overs >= 1
        assert served.version > 300
        assert not np.array_equal(chances(served), held)


def test_rows_that_show_no_columns_are_said_to(tmp_path: Path) -> None:
    with one_model(tmp_path / "model") as served:
        learn_all(served, [Item({"id": number}, str(number / 7)) for number in range(30)])
        served.call(lambda: None).result(10)  # type: ignore[attr-defined]
        assert "measures something" in served.troubles["columns"]
        with pytest.raises(RefusedError, match="there is no model yet"):
            served.predict([Item({"id": 1})])


def test_an_answer_does_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:100]))
        before, model = chances(served), state_of(served.model)  # type: ignore[arg-type]
        for number in range(50):
            served.predict([Item({**ROWS[0][0], "colour": f"colour {number}"})])
        assert np.array_equal(chances(served), before)
        assert state_of(served.model) == model  # type: ignore[arg-type]


def test_a_row_alone_reads_as_among_others(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"size": None},
        {"size": "1.5", "colour": 3, "new": "yes", "day": "no day"},
        {"size": 1e300, "day": "2024-02-29T10:00:00", "strange": {"a": [1, {"b": 2}]}},
        {"size": True, "colour": "", "new": None, "day": 20240101},
        {"size": [1, 2], "colour": {"a": 1}, "new": {}, "day": ["x"]},
        {"size": {"deep": 1}, "colour": "red"},
    ]
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:100]))
        assert served._answering is not None
        encoder = served._answering._encoder
        rows = [row for row, _ in ROWS[100:120]] + odd
        records = Records.of(columns_of([dict(row) for row in rows], encoder.schema.wanted))
        together = encoder.encode(encoder.parse(records))
        assert [encoder.row(row).x.tolist()[0] for row in rows] == together.tolist()
        for row in odd:
            assert len(served.predict([Item(row)]).probabilities) == 1


def test_what_the_journal_holds_is_json_for_people_too(tmp_path: Path) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:20], "a"))
        entry = next(served.journal.entries())
        request, rows = json.loads(entry.text)
        assert (request, len(rows), rows[0]) == (None, 20, [ROWS[0][0], ROWS[0][1], "a0", None])


def test_rows_that_cannot_be_learned_keep_no_others_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with one_model(tmp_path / "model") as served:
        learn(served, items(ROWS[:60]))
        assert served.model is not None
        taught = served.model.classifier._taught

        def fails(rows: Any, given: Any) -> Any:
            if "boom" in given.y:
                raise RuntimeError("a defect")
            return taught(rows, given)

        monkeypatch.setattr(served.model.classifier, "_taught", fails)
        learn(served, [Item(ROWS[60][0], "boom")])
        learn(served, items(ROWS[61:71]))
        assert (served.counts.failed, served.counts.learned) == (1, 70)
        assert served.version == 70
