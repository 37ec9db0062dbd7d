"""The service as it is asked over HTTP."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_http import Running, running
from served_rows import labelled_rows

from benchmarks.hostile_requests import damaged, described, send
from smartcl.serve import documents
from smartcl.serve.limits import Limits

ROWS = labelled_rows(300)
LINES = {"content_type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("served") / "model", Limits(body_bytes=200_000, rows=500)) as found:
        rows = [{**row, "label": label} for row, label in ROWS[:200]]
        assert found.ask("/learn", {"rows": rows}).json["accepted"] == 200
        wait_for(found, 200)
        yield found


def wait_for(service: Running, version: int) -> None:
    end = time.monotonic() + 20
    while service.ask("/versions").json["version"] < version:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_row_is_answered_with_its_label_chances_and_version(service: Running) -> None:
    answer = service.ask("/predict", {"row": ROWS[250][0], "id": "one"}).json
    assert (set(answer), answer["id"], answer["version"]) == ({"label", "probabilities", "version", "id"}, "one", 200)
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert answer["label"] == max(answer["probabilities"], key=answer["probabilities"].get)


def test_rows_lines_and_the_library_agree(service: Running) -> None:
    rows = [row for row, _ in ROWS[200:260]]
    many = service.ask("/predict", {"rows": rows}).json["answers"]
    lines = service.ask("/predict", "\n".join(json.dumps({"row": row}) for row in rows).encode(), **LINES)
    bare = service.ask("/predict", "\n".join(map(json.dumps, rows)).encode(), **LINES)
    assert [json.loads(line) for line in lines.body.splitlines()] == many
    assert bare.body == lines.body
    with service.models.use(None) as served:
        assert served.model is not None
        expected = served.model.predict_proba(rows)
        names = served.model.classes
    assert [[answer["probabilities"][name] for name in names] for answer in many] == expected.tolist()
    columns = list(rows[0])
    forms: list[Any] = [
        {"dataframe_records": rows},
        {"dataframe_split": {"columns": columns, "data": [list(row.values()) for row in rows]}},
        {"instances": rows},
        {"inputs": {name: [row[name] for row in rows] for name in columns}},
    ]
    labels = [answer["label"] for answer in many]
    assert [service.ask("/invocations", form).json["predictions"] for form in forms] == [labels] * 4
    table = "\n".join([",".join(columns), *(",".join(map(str, row.values())) for row in rows)])
    assert service.ask("/invocations", table.encode(), content_type="text/csv").json["predictions"] == labels


def test_a_label_comes_later_and_counts_once(tmp_path: Path) -> None:
    with running(tmp_path / "model") as service:
        lines = b"\n".join(json.dumps({**row, "label": label}).encode() for row, label in ROWS[:60])
        assert service.ask("/learn", lines, **LINES).json["accepted"] == 60
        wait_for(service, 60)
        service.ask("/predict", {"rows": [row for row, _ in ROWS[100:103]], "ids": ["a", "b", 3]})
        told = service.ask(
            "/learn", b'{"id": "a", "label": "yes"}\n{"id": 3, "label": "no"}\n{"id": "z", "label": "no"}', **LINES
        )
        assert (told.json["accepted"], told.json["repeated"], told.json["unknown"]) == (2, 0, ["z"])
        again = service.ask("/learn", {"id": "a", "label": "yes"}).json
        assert (again["accepted"], again["repeated"]) == (0, 1)
        named = [service.ask("/learn", {"row": ROWS[0][0], "label": "no"}, Idempotency_Key="k").json for _ in range(2)]
        assert [each["accepted"] for each in named] == [1, 0]
        wait_for(service, 63)
        scores = service.ask("/model").json["scores"]["answered"]
        assert scores["rows"] == 2


@pytest.mark.parametrize(
    ("path", "body", "status", "why"),
    [
        ("/predict", b"{", 400, "not JSON"),
        ("/predict", {"row": {}}, 422, "has no values"),
        ("/predict", {"row": {"other": 1}}, 422, "none of the columns"),
        ("/predict", {"row": {"size": 1}, "colour": "red"}, 422, "may have id, row"),
        ("/predict", {"rows": [{"size": 1}] * 501}, 413, "500 rows"),
        ("/predict", {"row": {"size": "x" * 100_000}}, 422, "20,000 characters"),
        ("/predict", {"row": {"size": "x" * 300_000}}, 413, "200,000 bytes"),
        ("/predict", b'{"row": {"colour": "\\ud800"}}', 422, "half a character"),
        ("/learn", {"row": {"size": 1}}, 422, "no label"),
        ("/learn", {"rows": [{"size": 1}], "labels": []}, 422, "list of 1 values"),
        ("/learn", {"row": {"size": 1}, "label": [1]}, 422, "must be a text"),
        ("/learn", {"row": {"size": 1}, "label": "a\0"}, 422, "NUL"),
        ("/versions", {"version": 7}, 404, "no saved version 7"),
        ("/versions", {"version": True}, 422, "a number of rows"),
        ("/invocations", {"rows": []}, 422, "one of dataframe_split"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(
    service: Running, path: str, body: Any, status: int, why: str
) -> None:
    before = service.ask("/metrics").body.count(b"\n")
    answer = service.ask(path, body)
    assert (answer.status, why in answer.json["error"]) == (status, True), answer.json
    assert service.ask("/versions").json["version"] == 200
    assert service.ask("/metrics").body.count(b"\n") >= before


def test_other_bodies_and_other_hosts_are_refused(service: Running) -> None:
    # a page of the web can send text, but neither JSON nor another host's name
    assert service.ask("/learn", b"{}", content_type="text/plain").status == 415
    assert service.ask("/health/live", host="evil.example:80").status == 400
    answer = service.ask("/predict", method="OPTIONS", origin="http://evil.example")
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_token_is_asked_for_everywhere_but_where_nothing_is_said(tmp_path: Path) -> None:
    with running(tmp_path / "model", token="0123456789abcdef") as service:
        token, service.token = service.token, None
        for path in ("/metrics", "/model", "/doubts", "/versions", "/openapi.json", "/events"):
            assert service.ask(path).status == 401
        assert (
            service.ask("/learn", {"row": {"a": 1}, "label": "b"}, authorization="Bearer 0123456789abcdeF").status
            == 401
        )
        assert [service.ask(path).status for path in ("/", "/service.js", "/health/live", "/ping")] == [200] * 4
        service.token = token
        assert service.ask("/metrics", host="elsewhere").status == 200


def test_the_metrics_count(service: Running) -> None:
    def figure(name: str) -> float:
        text = service.ask("/metrics").body.decode()
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        assert found is not None, text
        return float(found[1])

    before = figure("smartcl_predicted_rows_total")
    service.ask("/predict", {"rows": [row for row, _ in ROWS[:7]]})
    assert figure("smartcl_predicted_rows_total") == before + 7
    assert figure("smartcl_learned_rows_total") == 200
    assert figure("smartcl_memory_bytes") <= figure("smartcl_memory_budget_bytes")


def test_the_model_and_its_doubts_are_told(service: Running) -> None:
    model = service.ask("/model").json
    assert (model["model"]["rows"], sum(model["model"]["held_by_class"].values())) == (
        200,
        model["model"]["samples_held"],
    )
    assert [column["name"] for column in model["columns"]] == ["size", "colour", "new", "day"]
    doubts = service.ask("/doubts").json
    assert doubts["asked"] == model["model"]["samples_held"]
    assert all(each["likely_has"] >= each["label_has"] and each["likely"] != each["label"] for each in doubts["doubts"])


def test_the_examples_of_the_description_are_taken(tmp_path: Path) -> None:
    with running(tmp_path / "model") as service:
        rows = [{**documents.ROW, "amount": number, "label": "yes" if number > 10 else "no"} for number in range(30)]
        service.ask("/learn", {"rows": rows})
        wait_for(service, 30)
        service.ask("/save", {})
        paths = service.ask("/openapi.json").json["paths"]
        seen = 0
        for path in ("/predict", "/learn", "/invocations", "/save"):
            for kind, content in paths[path]["post"]["requestBody"]["content"].items():
                for example in content["examples"].values():
                    value = example["value"]
                    body = value.encode() if isinstance(value, str) else value
                    answer = service.ask(path, body, content_type=kind)
                    assert answer.status == 200, (path, value, answer.body)
                    seen += 1
        assert seen >= 10


def test_damaged_requests_are_refused_in_order(service: Running) -> None:
    statuses = [send(service.port, request) for request in damaged(seed=1, count=150)]
    assert max(statuses) < 500, [status for status in statuses if status >= 500]
    assert service.ask("/health/ready").json == {"ready": True, "troubles": {}}


def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with (
        running(tmp_path / "model", Limits(body_seconds=1.0)) as service,
        socket.create_connection(("127.0.0.1", service.port)) as line,
    ):
        line.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
        )
        line.settimeout(10)
        assert b" 408 " in line.recv(1000)


def test_headers_that_never_end_are_given_up(service: Running) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
        connection.sendall(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n")
        endless = b"".join(b"X-%d: %b\r\n" % (number, b"a" * 8000) for number in range(2000))
        with pytest.raises(OSError, match=r"reset|pipe"):
            connection.sendall(endless)
    assert service.ask("/ping").status == 200


def test_each_key_has_a_model_of_its_own(tmp_path: Path) -> None:
    with running(tmp_path / "models", per="shop", room=1) as service:
        turned = {"yes": "no", "no": "yes"}
        for shop in ("a", "b", "../c"):
            rows = [
                {**row, "shop": shop, "label": turned[label] if shop == "b" else label} for row, label in ROWS[:200]
            ]
            assert service.ask("/learn", {"rows": rows}).json["accepted"] == 200
        found = {}
        for shop in ("a", "b", "../c"):
            rows = [{**row, "shop": shop} for row, _ in ROWS[:20]]
            answers = service.ask("/predict", {"rows": rows})
            found[shop] = [answer["probabilities"]["yes"] for answer in answers.json["answers"]]
        assert found["a"] == found["../c"]
        assert found["b"] != found["a"]
        assert service.models.closed >= 2
        assert len(service.models.now()) == 1
        assert sorted(path.name for path in (tmp_path / "models").iterdir()) == ["shop=..%2Fc", "shop=a", "shop=b"]
        assert service.models.keys() == ["../c", "a", "b"]
        assert service.ask("/predict", {"row": {**ROWS[0][0], "shop": "new"}}).status == 404
        assert service.ask("/predict", {"rows": [{"shop": "a", "size": 1}, {"shop": "b", "size": 1}]}).status == 422
        assert service.ask("/model?shop=a").json["model"]["rows"] == 200
        assert (
            service.ask("/learn?shop=b", {"rows": [row for row, _ in ROWS[:2]], "labels": ["yes", "no"]}).status == 200
        )


def test_news_come_as_events(service: Running) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as line:
        line.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        line.settimeout(10)
        text = b""
        while b"}\n\n" not in text:
            text += line.recv(100_000)
    assert b"text/event-stream" in text
    assert b'data: {"model"' in text


def test_answers_are_as_described(service: Running) -> None:
    pytest.importorskip("schemathesis")
    sent, failures = described(service.url, examples=2)
    assert failures == []
    assert sent > 20


def test_who_hangs_up_before_the_answer_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    with running(tmp_path / "model", sync_seconds=0.3) as service:
        service.ask("/learn", {"rows": [{**row, "label": label} for row, label in ROWS[:50]]})
        body = json.dumps({"row": ROWS[60][0], "label": "yes", "id": "gone"}).encode()
        head = (
            f"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        with socket.create_connection(("127.0.0.1", service.port)) as line:
            line.sendall(head.encode() + b"\r\n\r\n" + body)
            time.sleep(0.1)  # it is in the journal's group by now
        answer = service.ask("/learn", {"row": ROWS[61][0], "label": "no", "id": "there"})
        assert answer.json["accepted"] == 1
        wait_for(service, 52)
        assert service.ask("/learn", {"row": ROWS[60][0], "label": "yes", "id": "gone"}).json["repeated"] == 1
