"""One encoder of several that learned apart: what they know of names and words is added, that of a base once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.column_schema import Column, ColumnSchema
from smartcl.columns.name_rates import MOST_NAMES, WINDOW_ROWS
from smartcl.columns.row_encoder import RowEncoder
from smartcl.columns.word_rates import FIRST_SLOPE, NAMED_WORDS
from smartcl.saving.saved import Saved


@dataclass(frozen=True)
class Knowing:
    """An encoder, how often what it counted counts, and its share of the rows that are new."""

    times: int
    share: float
    encoder: RowEncoder


def joined_encoders(parts: Sequence[Knowing]) -> RowEncoder:
    """One that knows what all know, or a ``ValueError`` that says which column cannot be put together."""
    first = parts[0].encoder
    for part in parts[1:]:
        check_same_columns(first.schema, part.encoder.schema)
    states = [(part.times, part.share, part.encoder.state_dict()) for part in parts]

    def of(kind: str, name: str) -> list[tuple[int, float, Any]]:
        return [(times, share, state[kind][name]) for times, share, state in states]

    whole = RowEncoder(first.schema)
    whole.load_state_dict(
        Saved(
            {
                **states[0][2],
                "rows": max(0, sum(times * state["rows"] for times, _, state in states)),
                **{
                    name: _mean([(share, state[name]) for _, share, state in states])
                    for name in ("base", "late", "whole")
                },
                "trends": max(states, key=lambda each: each[0] * each[2]["rows"])[2]["trends"],
                "rates": {name: _rates(of("rates", name)) for name in first.rates},
                "own": {name: _own(name, of("own", name)) for name in first.own},
                "words": {name: _words(of("words", name)) for name in first.words},
            }
        )
    )
    for part in parts:
        whole.book.take(part.encoder.book)
    return whole


def check_same_columns(one: ColumnSchema, other: ColumnSchema) -> None:
    """Refuse columns that are others, with what is other."""
    mine, theirs = ({column.name: column for column in schema.columns} for schema in (one, other))
    for name in sorted(mine.keys() | theirs.keys()):
        if name not in mine or name not in theirs:
            raise ValueError(f"the column {name!r} is not in all models: train each with the same --schema")
        for part in fields(Column):
            if part.name == "why":  # a note on the first rows, which are others in each model
                continue
            here, there = getattr(mine[name], part.name), getattr(theirs[name], part.name)
            if here != there:
                raise ValueError(
                    f"the column {name!r} has another {part.name} in each model, {here!r} and {there!r}: "
                    "let them go on from one base, or train each with the same --schema"
                )
    if one.without_notes() != other.without_notes():
        raise ValueError("the models differ in their schema: train each with the same --schema")


def _mean(parts: Sequence[tuple[float, NDArray[Any]]]) -> NDArray[Any]:
    total = sum(share for share, _ in parts)
    if not total:
        return parts[0][1]
    return np.asarray(sum(share / total * values for share, values in parts)).astype(parts[0][1].dtype)


def _rates(parts: Sequence[tuple[int, float, Mapping[str, Any]]]) -> dict[str, Any]:
    """Rates of names: the mean by how often each part has seen the name, of the names that came last."""
    there = [state for times, _, state in parts if times > 0]
    keys, place = np.unique(np.concatenate([state["keys"] for state in there]), return_inverse=True)
    count, last = np.zeros(len(keys), np.float32), np.zeros(len(keys), np.int64)
    rate = np.zeros((len(keys), there[0]["rate"].shape[1]), np.float32)
    own_count, own_rate, own_last = (np.concatenate([s[name] for s in there]) for name in ("count", "rate", "last"))
    np.add.at(count, place, own_count)
    np.add.at(rate, place, own_count[:, None] * own_rate)
    np.maximum.at(last, place, own_last)
    rate /= np.maximum(count, np.float32(1e-30))[:, None]
    for times, _, state in parts:
        if times < 0 and len(keys) and len(state["keys"]):  # a base's rows are in all counts: they count once
            at = np.minimum(np.searchsorted(keys, state["keys"]), len(keys) - 1)
            known = keys[at] == state["keys"]
            np.add.at(count, at[known], times * state["count"][known])
    newest = np.sort(np.argsort(-last, kind="stable")[:MOST_NAMES])
    count = count.clip(1.0, WINDOW_ROWS).astype(np.float32)
    return {"keys": keys[newest], "count": count[newest], "rate": rate[newest].clip(-1, 1), "last": last[newest]}


def _own(column: str, parts: Sequence[tuple[int, float, Mapping[str, Any]]]) -> dict[str, Any]:
    """Names with features of their own: each must have the same one everywhere."""
    places: dict[str, int] = {}
    for _, _, state in parts:
        for name, place in state["places"].items():
            if places.get(name, place) != place or (name not in places and place in places.values()):
                raise ValueError(
                    f"the names of the column {column!r} stand in other features in each model, {name!r} for one: "
                    "let them go on from one base that has seen the names"
                )
            places[name] = place
    return {"places": places, "last": np.max([state["last"] for _, _, state in parts], axis=0)}


def _words(parts: Sequence[tuple[int, float, Mapping[str, Any]]]) -> dict[str, Any]:
    """Counts of words are added, their weights are the mean by shares."""
    used = np.unique(np.concatenate([state["places"] for _, _, state in parts]))
    first, total = parts[0][2], sum(share for _, share, _ in parts) or 1.0

    def spread(name: str, state: Mapping[str, Any], empty: float = 0.0) -> NDArray[Any]:
        values = np.full((len(used), *state[name].shape[1:]), empty, np.float64)
        values[np.searchsorted(used, state["places"])] = state[name]
        return values

    def added(name: str) -> NDArray[Any]:
        return np.asarray(sum(times * spread(name, state) for times, _, state in parts))

    def averaged(name: str, empty: float = 0.0) -> NDArray[Any]:
        return np.asarray(sum(share / total * spread(name, state, empty) for _, share, state in parts))

    seen = added("seen")
    names: dict[int, str] = {}
    for _, _, state in parts:
        text = state["names"].tobytes().decode("utf-8", "replace")
        own = zip(state["named"].tolist(), text.split("\n") if len(state["named"]) else [], strict=True)
        names = {**dict(own), **names}
    kept = dict(list(names.items())[:NAMED_WORDS])
    return {
        "rows": max(0.0, sum(times * state["rows"] for times, _, state in parts)),
        "base": np.maximum(sum(times * state["base"] for times, _, state in parts), 0).astype(np.float32),
        "bias": _mean([(share, state["bias"]) for _, share, state in parts]).astype(first["bias"].dtype),
        "places": used,
        "seen": np.maximum(seen, 1.0).astype(np.float32),
        "held": np.maximum(added("held"), 0.0).astype(np.float32),
        "weight": averaged("weight").astype(np.float32),
        "slope": np.maximum(averaged("slope", FIRST_SLOPE), FIRST_SLOPE).astype(np.float32),
        "named": np.fromiter(kept, np.int64, len(kept)),
        "names": np.frombuffer("\n".join(kept.values()).encode("utf-8", "replace"), dtype=np.uint8),
    }
