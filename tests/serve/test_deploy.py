"""The container files: linted where there are linters, and each figure of boards and alerts is one that is told."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from served_http import running
from served_rows import labelled_rows, settle

DEPLOY = Path(__file__).parents[2] / "deploy"


def linted(*words: str, **environment: str) -> None:
    """Run a linter, if it is here."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]} here")
    given = {**os.environ, **environment}
    done = subprocess.run(words, cwd=DEPLOY, capture_output=True, text=True, check=False, env=given)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_is_as_hadolint_wants_it() -> None:
    linted("hadolint", "Dockerfile")


def test_prometheus_takes_its_files() -> None:
    linted("promtool", "check", "config", "--syntax-only", "prometheus.yml")


def test_prometheus_takes_the_alerts() -> None:
    linted("promtool", "check", "rules", "alerts.yml")


def test_compose_takes_its_file() -> None:
    linted("docker-compose", "-f", "compose.yaml", "config", SMARTCL_TOKEN="0123456789abcdef")


def test_what_the_image_copies_is_there_and_is_not_ignored() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text()
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (DEPLOY.parent / name).exists(), name
            assert f"!{name.removeprefix('./')}\n" in ignored, name
    assert "USER 10001" in text
    assert "HEALTHCHECK" in text


def test_what_compose_mounts_is_there() -> None:
    mounted = re.findall(r"^\s+- (\./[^:]+):", (DEPLOY / "compose.yaml").read_text(), re.MULTILINE)
    assert len(mounted) == 4
    assert [name for name in mounted if not (DEPLOY / name).exists()] == []


def test_the_board_and_the_alerts_ask_for_figures_that_are_told(tmp_path: Path) -> None:
    board = json.loads((DEPLOY / "grafana" / "boards" / "smartcl.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [each["expr"] for each in board["annotations"]["list"]]
    asked += re.findall(r"expr: (.+)", (DEPLOY / "alerts.yml").read_text())
    names = {name for text in asked for name in re.findall(r"smartcl_\w+", text)}
    with running(tmp_path / "model") as service:
        rows = [{**row, "label": label} for row, label in labelled_rows(60)]
        service.ask("/learn", {"rows": rows})
        with service.models.use(None) as served:
            served.call = service.models.call  # type: ignore[attr-defined]
            settle(served)
        answered = service.ask("/predict", {"row": labelled_rows(1)[0][0], "id": "a"})
        assert answered.status == 200
        service.ask("/learn", {"row": rows[0], "id": "a"})
        told = set(re.findall(r"^(smartcl_\w+)", service.ask("/metrics").body.decode(), re.MULTILINE))
    assert len(names) > 12
    assert names - told == set()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
