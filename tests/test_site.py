"""The documentation: it builds strictly, fits a desk and a phone, asks nothing of other servers, and answers fast."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, ClassVar

import pytest

ROOT = Path(__file__).parents[1]
MKDOCS = shutil.which("mkdocs", path=f"{ROOT / '.venv-docs' / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
WIDTHS = (400, 1200)

#: Opens every page in a frame of each width; what it is wider than the frame, and what it asked of other servers.
LOOK = """
<!doctype html><meta charset=utf-8><body><script>
(async () => {
  const found = {};
  for (const width of WIDTHS) for (const name of PAGES) {
    const frame = document.createElement("iframe");
    frame.style = `border:0;width:${width}px;height:800px`;
    frame.src = "/" + name;
    document.body.append(frame);
    await new Promise(loaded => frame.onload = loaded);
    const page = frame.contentDocument, view = frame.contentWindow;
    found[`${name} ${width}`] = {
      sideways: page.documentElement.scrollWidth - page.documentElement.clientWidth,
      strangers: view.performance.getEntriesByType("resource").map(each => each.name)
        .filter(each => !each.startsWith(location.origin) && !each.startsWith("data:")),
      words: page.body.innerText.split(/\\s+/).length,
    };
    frame.remove();
  }
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>
"""


class Listener(SimpleHTTPRequestHandler):
    """Serves the site, and takes what was found."""

    found: ClassVar[Queue[dict[str, Any]]] = Queue()

    def do_POST(self) -> None:
        self.found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if MKDOCS is None:
        pytest.skip("no mkdocs is installed: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [MKDOCS, "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def looked(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    if not CHROMIUM:
        pytest.skip("no Chromium is installed")
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    harness = LOOK.replace("WIDTHS", json.dumps(WIDTHS)).replace("PAGES", json.dumps(pages))
    (site / "look.html").write_text(harness)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Listener, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1300,900",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"http://127.0.0.1:{server.server_port}/look.html",
    ]  # fmt: skip
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return Listener.found.get(timeout=120)
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
        server.shutdown()
        server.server_close()


def test_every_page_fits_a_desk_and_a_phone(looked: dict[str, dict[str, Any]]) -> None:
    assert {name: each["sideways"] for name, each in looked.items() if each["sideways"] > 0} == {}
    assert min(each["words"] for name, each in looked.items() if "404" not in name) > 50


def test_nothing_is_asked_of_other_servers(looked: dict[str, dict[str, Any]]) -> None:
    assert {name: each["strangers"] for name, each in looked.items() if each["strangers"]} == {}


def test_no_page_names_a_style_a_script_or_a_picture_from_elsewhere(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe)[^>]*\bsrc="?https?:|<link[^>]*rel="?(?:stylesheet|preconnect)[^>]*https?:"""
    )
    assert [path.name for path in site.rglob("*.html") if loads.search(path.read_text())] == []
    assert [
        path.name for path in site.rglob("*.css") if re.search(r"(url\(|@import )[\"']?https?:", path.read_text())
    ] == []


def links_of(page: Path) -> set[Path]:
    """Where the links of a Markdown page lead, inside the repository."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


def test_each_question_is_answered_on_a_page_that_is_there() -> None:
    """The page of questions is one click from the README, each answer one more."""
    questions = ROOT / "docs" / "questions.md"
    rows = [line for line in questions.read_text().splitlines() if line.startswith("| ") and "?" in line]
    assert len(rows) == 10
    assert all(re.search(r"\]\([\w/]+\.md(#[\w-]+)?\)", row) for row in rows)
    assert all(path.exists() for path in links_of(questions))
