"""Command lines that are wrong or odd, over all commands; each ends in well under a second.

``smartcl`` must answer each with exit code 0, 1 or 2 and at most one line of error that fits the screen.
"""

from __future__ import annotations

import io
import json
import os
import random
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.attack.odd_tables import good_counts, good_events, odd_parquets, odd_texts
from benchmarks.attack.tries import NEVER, REFUSED, SURVIVED, FaultError, Findings, run, scratch
from smartcl.cli.app import call
from smartcl.cli.one_line import LOG_COLUMNS
from smartcl.learners.methods import METHODS
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec

COMMANDS = ("demo", "run", "events", "methods", "reproduce", "results", "report")
TINY = ("--set", "hidden=2", "--set", "iterations=1", "--memory", "2kB")
QUICK_RUN = ("run", "--dataset", "disjoint-digits", *TINY)

WORDS = (
    *("", " ", "-", "--", "0", "-1", "1e400", "-1e400", "nan", "None", "True", "()", "[]", "'", '"', "%s", "{}", "\\"),
    *("🌋", "Belém", "\u202e", "\udcff", "x" * 5000, "9" * 400, "9" * 5000, "(" * 3000, "1,2,3", "1;2", "..", "/"),
    *("[/red]", "[bold", "\x1b[31m", "a\nb", "~", "*", "$HOME", "@file", "=", "1_000", "0x10", "½"),
)
NUMBERS = (
    *("-1", "0", "1", "2", "7", "255", "256", "1e30", "1e-30", "1e300", "1e400", "-5", "0.5", "1.0", "1.5", "nan"),
    *("inf", "-inf", "1000000", "1000000000", "99999999999999999999", "1" * 400, "1" * 5000, "big", "", "1,1", "(4,4)"),
)
#: Allowed for these settings, but not done in a second.
LASTING = {"iterations", "epochs", "hidden"}, {"255", "256", "1000000"}
SIZES = (
    *("0", "-1", "1", "17", "64", "1 samples", "0 samples", "-3 samples", "1e3 samples", "0.5 samples", "1kB", "lots"),
    *(
        "99999999999999999999GB",
        "9" * 400,
        "1.5.5MB",
        "1 MB extra",
        "NaN",
        "infinity",
        "",
        "½ MB",
        "1MB\n",
        "300samples",
    ),
)


@dataclass(frozen=True)
class CommandLine:
    """What comes after ``smartcl``, and what is odd about it."""

    what: str
    arguments: tuple[str, ...]


def attack(tries: int, *, seed: int = 17, until: float = NEVER) -> Findings:
    """So many command lines, each answered by a process that may die."""
    with scratch() as folder:
        lines = command_lines(random.Random(seed), Path(folder), tries)
        return run(partial(_attempt, lines, Path(folder)), range(tries), until=until)


def _attempt(lines: list[CommandLine], folder: Path, number: int) -> str:
    line = lines[number]
    os.chdir(folder)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        warnings.simplefilter("default")
        code = call(list(line.arguments))
    wrong = wrong_with(line, code, out.getvalue(), err.getvalue())
    if wrong:
        raise FaultError(wrong, f"{line.what}; {err.getvalue()[:100]!r}")
    return REFUSED if code else SURVIVED


def wrong_with(line: CommandLine, code: int, out: str, err: str) -> str | None:
    """What is wrong with an answer, if something is."""
    errors = [each for each in err.splitlines() if not each.startswith("smartcl: note: ")]
    if code not in {0, 1, 2}:
        return f"exit code {code}"
    if "Traceback" in err or "a defect of smartcl" in err:
        return "a defect was reported"
    if len(errors) != (1 if code and line.arguments else 0):
        return "not one line of error where there is an error"
    if any(not error.startswith("smartcl: ") or len(error) > LOG_COLUMNS for error in errors):
        return "an error that does not fit the screen"
    if code == 0 and "--json" in line.arguments and not _is_strict_json(out):
        return "an answer that is not JSON"
    return None


def _is_strict_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"JSON knows no {constant}")


def command_lines(rng: random.Random, folder: Path, least: int = 400) -> list[CommandLine]:
    """At least so many, in an order drawn by ``rng``; the files they name are written into ``folder``."""
    made = [*tables(rng, folder), *results(rng, folder), *outputs(folder), *plain(folder)]
    drawn = drawn_options(rng, folder)
    made.extend(next(drawn) for _ in range(max(150, least - len(made))))
    rng.shuffle(made)
    return made


def tables(rng: random.Random, folder: Path) -> Iterator[CommandLine]:
    """Odd files of counts, and some of them as files of events."""
    counts, events = write_good_tables(folder)
    odd = folder / "tables"
    odd.mkdir()
    for name, text in odd_texts(rng).items():
        (odd / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    (odd / "folder.csv").mkdir()
    (odd / "locked.csv").write_text(good_counts(), encoding="utf-8")
    (odd / "locked.csv").chmod(0)
    (odd / "loop.csv").symlink_to(odd / "loop.csv")
    list(odd_parquets(rng, odd))
    for path in (*sorted(odd.iterdir()), odd / "nowhere.csv", odd / ("x" * 300 + ".csv"), Path("/dev/null"), Path()):
        yield CommandLine(f"counts: {path.name}", forecast(path, events))
        if rng.random() < 0.3:
            yield CommandLine(f"events: {path.name}", forecast(counts, path))
    yield CommandLine("counts and events exchanged", forecast(events, counts))


def results(rng: random.Random, folder: Path) -> Iterator[CommandLine]:
    """Result folders that are none, or hold what no run wrote."""
    specs = TABLES["table1"].specs(1)
    for name, text in odd_results(rng).items():
        where = folder / "results" / name.replace(" ", "-")
        where.mkdir(parents=True, exist_ok=True)
        lines = [
            text if isinstance(text, bytes) else text.replace('"SPEC"', spec_text(spec)).replace("\n", " ").encode()
            for spec in specs[:: len(specs) // 5]
        ]
        ResultFolder(where).file(specs[0].dataset).path.write_bytes(b"\n".join(lines))
        yield CommandLine(
            f"results: {name}", ("reproduce", "table1", "--show", "--seeds", "1", "--results", str(where))
        )
        if rng.random() < 0.4:  # a report takes longer than the rest
            yield CommandLine(f"report of: {name}", ("report", "--results", str(where), "--out", f"{where}-report"))
    ResultFolder(folder / "results" / "folder").file(specs[0].dataset).path.mkdir(parents=True)
    for name, command in (("results: folder", ("reproduce", "table1", "--show")), ("report of: folder", ("report",))):
        yield CommandLine(name, (*command, "--results", str(folder / "results" / "folder")))
    for name in ("keywords", "theory", "figure-samples", "figure-sensitivity", "table3-tuning", "events-tuning"):
        yield CommandLine(f"nothing of {name}", ("reproduce", name, "--show", "--json", "--results", str(folder)))
    (folder / "file").write_text("a file")
    yield CommandLine("results in a file", ("reproduce", "table1", "--show", "--results", str(folder / "file")))
    yield CommandLine("report of a file", ("report", "--results", str(folder / "file")))
    yield CommandLine("report of nothing", ("report", "--results", str(folder / "nowhere")))
    yield CommandLine("page in a folder", ("results", str(folder), "--results", str(folder / "nowhere")))
    yield CommandLine("page in nowhere", ("results", str(folder / "a" / "b.md"), "--results", str(folder / "nowhere")))


def odd_results(rng: random.Random) -> dict[str, str | bytes]:
    """Files where results are expected; ``"SPEC"`` stands for what the run was asked for."""
    whole = {
        "accuracy": 90.0,
        "accuracy_matrix": [[90.0]],
        "budget_bytes": 1000,
        "memory_history": {"batches": [1], "samples": [1], "bytes": [9], "purity": [1.0]},
        "constraint_history": {"batches": [1], "cosine": [0.5]},
        "cpu_seconds": 1.0,
        "spec": "SPEC",
        "stream": "s",
        "versions": {"smartcl": "0"},
    }
    others = (None, "x", -1, [], {}, [[]], {"batches": []}, {"batches": [1], "samples": [1, 2]}, 1e300, [["a"], [1, 2]])
    odd: dict[str, str | bytes] = {
        "empty": "",
        "binary": rng.randbytes(500),
        "list": "[]",
        "number": "7",
        "none": "null",
        "nothing": "{}",
        "deep": "[" * 100_000,
        "huge": '{"accuracy": 1' + "0" * 400 + "}",
        "nan": '{"accuracy": NaN, "stream": "x"}',
        "foreign spec": json.dumps({**whole, "spec": {"dataset": "x", "method": "y", "parameters": {}}}),
        "wrong spec": json.dumps({**whole, "spec": {"dataset": 5, "method": [], "parameters": 3, "seed": None}}),
        "spec alone": '{"spec": "SPEC"}',
    }
    for name in whole:
        odd[f"without {name}"] = json.dumps({key: value for key, value in whole.items() if key != name})
        odd[f"other {name}"] = json.dumps({**whole, name: rng.choice(others)})
    return odd


def spec_text(spec: RunSpec) -> str:
    return json.dumps(spec.as_dict())


def outputs(folder: Path) -> Iterator[CommandLine]:
    """Places where nothing can be saved."""
    counts, events = write_good_tables(folder)
    good = forecast(counts, events)
    (folder / "other").mkdir()
    (folder / "other" / "thesis.tex").write_text("years of work")
    models: dict[str, str] = {
        "empty": "",
        "brace": "{",
        "list": "[]",
        "no-format": "{}",
        "incomplete": '{"format": "smartcl-model", "version": 1}',
        "no-arrays": '{"format": "smartcl-model", "version": 1, "arrays": "a.safetensors", "sha256": "0", "state": {}}',
        "outside": '{"format": "smartcl-model", "version": 1, "arrays": "../x", "sha256": 5, "state": null}',
        "deep": '{"format": "smartcl-model", "version": 1, "state": ' + "[" * 50_000,
        "future": '{"format": "smartcl-model", "version": 1e999}',
    }
    for name, text in models.items():
        model = folder / "models" / name
        model.mkdir(parents=True)
        (model / "model.json").write_text(text)
        yield CommandLine(f"model.json: {name}", (*good, "--out", str(model)))
        yield CommandLine(f"model.json: {name}, overwrite", (*good, "--out", str(model), "--overwrite"))
    wrong = {
        "a file": folder / "file.txt",
        "below a file": folder / "file.txt" / "model",
        "something else": folder / "other",
        "a long name": folder / ("x" * 300),
        "in /proc": Path("/proc/smartcl/model"),
        "a device": Path("/dev/null"),
        "below a device": Path("/dev/null/model"),
        "nothing": Path(),
    }
    (folder / "file.txt").write_text("a file")
    for name, path in wrong.items():
        yield CommandLine(f"out: {name}", (*good, "--out", str(path)))
        yield CommandLine(f"keywords: {name}", (*QUICK_RUN, "--keywords", str(path)))
        yield CommandLine(f"picture: {name}", ("demo", "--out", str(path), "--memory", "nothing"))
        yield CommandLine(f"report: {name}", ("report", "--results", str(folder / "other"), "--out", str(path)))
        if name not in ("something else", "nothing"):  # there a page can be written
            yield CommandLine(
                f"page: {name}", ("report", "--markdown", str(path / "x"), "--results", str(folder / "nowhere"))
            )
    yield CommandLine("out: markup", (*good, "--out", str(folder / "[/red]model")))
    yield CommandLine("out: as JSON", (*good, "--out", str(folder / "größer"), "--json"))


def plain(folder: Path) -> Iterator[CommandLine]:
    """Nothing, too much, and the wrong commands."""
    yield CommandLine("nothing", ())
    for word in (*WORDS, "--version", "--help", "--verson", "events" * 900):
        yield CommandLine(f"command {word[:12]!r}", (word,))
    for command in COMMANDS:
        yield CommandLine(f"{command} --help", (command, "--help"))
        yield CommandLine(f"{command} with a stranger", (command, "--stranger", "x"))
        yield CommandLine(f"{command} with too many", (command, *("surplus",) * 50))
    yield CommandLine("version and more", ("--version", "run"))
    yield CommandLine("all with a row", ("reproduce", "all", "--row", "er"))
    for seeds in ("0", "-1", "1001", "100000000", "1" * 400, "one", "1.5"):
        yield CommandLine(f"seeds {seeds[:12]}", ("reproduce", "table1", "--show", "--seeds", seeds))
    for options in (
        ("--engine", "slurm"),
        ("--engine", "ray", "--address", "nowhere:1", "--workers", "2"),
        ("--address", "nowhere:1"),
        ("--workers", "0"),
        ("--column", "900"),
        ("--row", "nobody"),
    ):
        yield CommandLine(f"reproduce {' '.join(options)}", ("reproduce", "table1", "--show", *options))


def drawn_options(rng: random.Random, folder: Path) -> Iterator[CommandLine]:
    """Without end: a good command line with an option or two whose values are drawn."""
    counts, events = write_good_tables(folder)
    options = {
        "--horizon": (*NUMBERS, "3", "24", "100000000", str(2**63)),
        "--test-from": (*WORDS, "2014-01-10", "2014-01-23", "1900-01-01", "9999-12-31", "0000-00-00", "2014-01-10T25"),
        "--memory": SIZES,
        "--method": (*WORDS, *METHODS),
        "--seed": (*NUMBERS, str(2**32), str(2**64)),
        "--place": (*WORDS, "date", "Place"),
        "--date": (*WORDS, "place"),
        "--keyword": (*WORDS, "count"),
        "--count": (*WORDS, "keyword"),
        "--dataset": (*WORDS, "mnst", "disjoint-digit"),
        "--noise": (*WORDS, "flip", "flip:", "flip:2", "flip:nan", "flip:-0.1", "uniform:1", "foreign:0.5", "none:1"),
        "--data": (*WORDS, str(folder)),
    }
    own = {
        "events": ("--horizon", "--test-from", "--memory", "--method", "--seed", "--place", "--date", "--keyword"),
        "run": ("--memory", "--method", "--seed", "--dataset", "--noise", "--data"),
    }
    while True:
        command = rng.choice(("events", "run"))
        base = forecast(counts, events) if command == "events" else QUICK_RUN
        if rng.random() < 0.5:
            method = rng.choice(list(METHODS))
            name = rng.choice([*METHODS[method].parameters, "nothing", ""])
            value = rng.choice(NUMBERS if rng.random() < 0.8 else WORDS)
            if name in LASTING[0] and value in LASTING[1]:
                continue
            extra: tuple[str, ...] = ("--method", method, *fewest(method), "--set", f"{name}={value}")
        else:
            names = rng.sample(own[command], rng.choice((1, 1, 2)))
            extra = tuple(part for name in names for part in (name, rng.choice(options[name])))
        if rng.random() < 0.2:
            extra = (*extra, "--json")
        yield CommandLine(f"{command} {' '.join(extra)[:80]!r}", (*base, *extra))


def fewest(method: str) -> tuple[str, ...]:
    """Settings that make a method train as little as it can."""
    return ("--set", "epochs=1") if "epochs" in METHODS[method].parameters else ()


def forecast(counts: Path, events: Path) -> tuple[str, ...]:
    return ("events", "--counts", str(counts), "--events", str(events), *TINY)


def write_good_tables(folder: Path) -> tuple[Path, Path]:
    counts, events = folder / "good-counts.csv", folder / "good-events.csv"
    counts.write_text(good_counts(), encoding="utf-8")
    events.write_text(good_events(), encoding="utf-8")
    return counts, events
