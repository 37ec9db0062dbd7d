"""A method is known by its colour: it has one of its own choice, and no two lines of a panel look the same."""

from __future__ import annotations

from collections import Counter

from smartcl.paper.experiments.catalogue import known_artefacts
from smartcl.paper.experiments.streams import STREAM_RUNS
from smartcl.paper.report.page_figure import key_of
from smartcl.paper.report.palette import METHODS


def test_every_method_of_every_table_has_a_colour() -> None:
    tables = [table for artefact in known_artefacts().values() for table in artefact.tables]
    assert {row.method for table in tables for row in table.rows} <= METHODS.keys()


def test_lines_of_a_panel_of_streams_can_be_told_apart() -> None:
    looks = Counter((key.colour, key.dashed) for key in map(key_of, STREAM_RUNS.rows))
    assert max(looks.values()) == 1
