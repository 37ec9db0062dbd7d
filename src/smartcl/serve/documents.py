"""OpenAPI schemas of what the API takes and gives, with examples. Requests are checked in ``bodies.py``."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

ROW = {"amount": 12.5, "country": "de", "since": "2024-03-01"}
VALUE: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
ROW_SCHEMA: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": VALUE,
    "description": "Values by column, as in the files the model learned from; unknown columns are passed over.",
}
ID: dict[str, Any] = {"type": ["string", "integer", "null"], "minLength": 1, "maxLength": 200}
LABEL: dict[str, Any] = {"type": ["string", "number", "boolean"], "minLength": 1, "maxLength": 200}
LINES = {"schema": {"type": "string"}}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of, "minItems": 1}


PREDICT_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "oneOf": [
                    _object(["row"], row=ROW_SCHEMA, id=ID),
                    _object(["rows"], rows=_list(ROW_SCHEMA), ids=_list(ID)),
                ]
            },
            "examples": {
                "one row": {"value": {"row": ROW, "id": "order 17"}},
                "rows": {"value": {"rows": [ROW, {**ROW, "amount": 3}]}},
            },
        },
        "application/x-ndjson": {
            **LINES,
            "examples": {"lines": {"value": '{"row": {"amount": 12.5}, "id": "order 17"}\n{"amount": 3}\n'}},
        },
    },
}
LEARN_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "oneOf": [
                    _object(["row", "label"], row=ROW_SCHEMA, label=LABEL, id=ID),
                    _object(["id", "label"], id=ID, label=LABEL),
                    _object(["rows", "labels"], rows=_list(ROW_SCHEMA), labels=_list(LABEL), ids=_list(ID)),
                ]
            },
            "examples": {
                "a row and its label": {"value": {"row": ROW, "label": "yes", "id": "order 18"}},
                "the label of a row that was predicted": {"value": {"id": "order 17", "label": "no"}},
                "rows": {"value": {"rows": [ROW], "labels": ["yes"], "ids": ["order 19"]}},
            },
        },
        "application/x-ndjson": {
            **LINES,
            "examples": {
                "lines": {"value": '{"row": {"amount": 12.5}, "label": "yes"}\n{"id": "order 17", "label": "no"}\n'}
            },
        },
    },
}
BACK_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": _object(["version"], version={"type": "integer", "minimum": 0}),
            "examples": {"a version": {"value": {"version": 12000}}},
        }
    },
}
SAVE_BODY = {
    "required": True,
    "content": {"application/json": {"schema": _object([]), "examples": {"nothing": {"value": {}}}}},
}
INVOCATIONS_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "oneOf": [
                    _object(["dataframe_records"], dataframe_records=_list(ROW_SCHEMA)),
                    _object(
                        ["dataframe_split"],
                        dataframe_split=_object(
                            ["columns", "data"],
                            index={"type": "array"},
                            columns=_list({"type": "string"}),
                            data=_list({"type": "array", "items": VALUE}),
                        ),
                    ),
                    _object(["instances"], instances=_list(ROW_SCHEMA)),
                    _object(["inputs"], inputs={"type": "object", "additionalProperties": {"type": "array"}}),
                ]
            },
            "examples": {
                "records": {"value": {"dataframe_records": [ROW]}},
                "split": {"value": {"dataframe_split": {"columns": ["amount", "country"], "data": [[12.5, "de"]]}}},
            },
        },
        "text/csv": {"schema": {"type": "string"}, "examples": {"a table": {"value": "amount,country\n12.5,de\n"}}},
    },
}


class Answer(BaseModel):
    """The answer to one row, by the model of ``version`` learned rows."""

    model_config = ConfigDict(extra="forbid")
    label: str = Field(examples=["no"])
    probabilities: dict[str, float] = Field(examples=[{"no": 0.83, "yes": 0.17}])
    version: int = Field(examples=[12000])
    id: str | None = Field(default=None, examples=["order 17"])


class ManyAnswers(BaseModel):
    """The answers to the rows of a request, in their order."""

    answers: list[Answer]
    version: int


class Learned(BaseModel):
    """What became of the rows of a request: they are on the disk, and will be learned in their order."""

    accepted: int = Field(examples=[1])
    repeated: int = Field(description="Rows whose id was learned before: they are not learned again.")
    unknown: list[str] = Field(description="Ids of labels whose row is not known, or not any more; the first 100.")
    queued: int = Field(description="Rows that wait for the learner.")
    version: int = Field(description="Rows learned so far.")


class Refused(BaseModel):
    """Why a request was not done; it changed nothing."""

    error: str = Field(examples=["row 0 has no label"])


class Predictions(BaseModel):
    """MLflow's answer: the label of each row."""

    predictions: list[str] = Field(examples=[["no", "yes"]])


class Health(BaseModel):
    """Whether the service does its work; ``troubles`` say what does not."""

    ready: bool
    troubles: dict[str, str]


class SavedVersions(BaseModel):
    """The versions that can be gone back to, by rows learned, and the one that answers now."""

    version: int
    saved: list[int]


class About(BaseModel):
    """What is known of something, as names and values."""

    model_config = ConfigDict(extra="allow")


#: What any request may be answered with.
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refused, "description": why}
    for status, why in {
        400: "not HTTP or JSON as it should be",
        401: "no token, or a wrong one",
        404: "there is no such model or version",
        408: "the body did not come in time",
        413: "too many bytes or rows",
        415: "another kind of body",
        422: "the body says what cannot be done",
        429: "too many rows wait to be learned: try again after the seconds of Retry-After",
        503: "there is no model yet, the service is ending, or the disk does not take the rows: try again",
    }.items()
}
