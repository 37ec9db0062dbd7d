"""HTML page of the scores of a model on a stream; it needs no network and can be passed on as one file.

Curves are drawn in a plane of 100 by 100 that the browser stretches; all text stands beside them as HTML, so it has the
same size on a phone. The threshold is moved by a few lines of script in the page itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from smartcl.account.named_scores import NamedScores, percent
from smartcl.files.evaluation import Evaluation
from smartcl.files.plot_parts import ChangeMark, CurveLine, plot, stacked
from smartcl.files.summary import inspection
from smartcl.files.table_model import TableModel
from smartcl.memory import format_bytes

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6875; --paper: #fff; --card: #f5f7f9; --rule:
  #d5dce3; --main: #2f6f9f; --other: #c2703d; --third: #7a8794; --cell: 47,111,159; --note: #fff4e0;
  --noteink: #6b4a00; --c0: #2f6f9f; --c1: #d08c46; --c2: #5a9a6f; --c3: #b05a7a; --c4: #8a7ab5; --c5:
  #a8923a; --c6: #4c9aa8; --c7: #8b939b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a3afba; --paper: #14191f; --card:
  #1d242c; --rule: #37424d; --main: #7db8e0; --other: #e0a06c; --third: #95a1ac; --cell: 125,184,224; --note:
  #3a2f16; --noteink: #f0d9a8; --c0: #6fa9d2; --c1: #d9a066; --c2: #79b88d; --c3: #cc83a0; --c4: #a99bd0;
  --c5: #c4b05e; --c6: #6fb9c6; --c7: #9aa3ab; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; }
.soft { color: var(--soft); font-size: .87rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.6rem, 1fr)); gap: .6rem; margin: 1rem
  0; }
.tile { background: var(--card); border-radius: .5rem; padding: .6rem .8rem; }
.tile b { display: block; font-size: 1.45rem; font-variant-numeric: tabular-nums; line-height: 1.25; }
.tile span { font-size: .8rem; color: var(--soft); display: block; }
.note { background: var(--note); color: var(--noteink); border-radius: .5rem; padding: .5rem .8rem; margin:
  .4rem 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2rem; }
.plot { position: relative; height: 15rem; margin: .4rem .6rem 3rem 2.9rem; }
.plot.square { height: auto; aspect-ratio: 1; max-height: 21rem; }
.plot svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.plot span { position: absolute; font-size: 12px; line-height: 1; color: var(--soft); white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.plot .y { right: calc(100% + .4rem); transform: translateY(50%); }
.plot .x { top: calc(100% + .4rem); transform: translateX(-50%); }
.plot .x.first { transform: none; }
.plot .x.last { transform: translateX(-100%); }
.plot .across { top: calc(100% + 1.4rem); right: 0; }
.plot .mark { bottom: calc(100% - 14px); transform: translateX(4px); color: var(--other); }
.plot .mark.left { transform: translateX(calc(-100% - 4px)); }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; font-size: .85rem; color: var(--soft); margin: .2rem
  0 .5rem; }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .35rem;
  vertical-align: -1px; }
path, line { vector-effect: non-scaling-stroke; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .4rem 0 1rem; font-size: .9rem; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
th { font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--rule); }
table.words td { text-align: left; vertical-align: top; }
table.words th { text-align: left; }
table.confusion td, table.confusion th { padding: .3rem .6rem; }
.bars { display: grid; grid-template-columns: minmax(5rem, max-content) 1fr 3.4rem; gap: .15rem .6rem;
  font-size: .88rem; align-items: center; margin: .4rem 0 1rem; }
.bars div { overflow-wrap: anywhere; }
.bars u { display: block; height: .75rem; border-radius: 2px; background: var(--main); min-width: 1px;
  text-decoration: none; }
.bars em { font-style: normal; text-align: right; font-variant-numeric: tabular-nums; }
.controls { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin: .4rem 0; }
.controls input[type=range] { flex: 1 1 12rem; min-width: 9rem; accent-color: var(--main); }
select, code, output { font: inherit; }
code { font-family: ui-monospace, monospace; font-size: .87em; background: var(--card); border-radius: .3rem;
  padding: .1rem .35rem; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--rule); padding-top: .6rem; }
"""


#: Points of a curve in the page: more cannot be told apart on a screen.
MOST_POINTS = 200
SHARES = ["0%", "25%", "50%", "75%", "100%"]

#: Draws both curves of the class that is chosen, and says what the threshold means for it.
THRESHOLD_SCRIPT = """
(function () {
  var data = document.getElementById('curves'); if (!data) return;
  var curves = JSON.parse(data.textContent), by = function (id) { return document.getElementById(id); };
  var pick = by('class'), slide = by('slide'), NS = 'http://www.w3.org/2000/svg';
  function share(v) { return (100 * v).toFixed(1) + '%'; }
  function draw(box, points, dot) {
    var svg = by(box).querySelector('svg'), own = svg.querySelector('g');
    if (!own) { svg.querySelectorAll('path[data-curve]:not([stroke-dasharray])').forEach(function (p) { p.remove(); });
      own = svg.appendChild(document.createElementNS(NS, 'g')); }
    own.innerHTML = '<path fill="none" stroke="var(--main)" stroke-width="2.2" d="M' + points.map(function (p) {
      return (100 * p[0]).toFixed(2) + ',' + (100 - 100 * p[1]).toFixed(2); }).join(' L') + '"/>' +
      '<path stroke="var(--other)" stroke-width="11" stroke-linecap="round" d="M' + (100 * dot[0]).toFixed(2) + ',' +
      (100 - 100 * dot[1]).toFixed(2) + 'h0"/>';
  }
  function show() {
    var c = curves[pick.value], n = c.threshold.length, i = n - 1 - Math.min(n - 1, +slide.value);
    var P = c.hits[n - 1], N = c.rows[n - 1] - P, hit = c.hits[i], said = c.rows[i], roc = [[0, 0]], pr = [];
    for (var k = 0; k < n; k++) {
      roc.push([(c.rows[k] - c.hits[k]) / N, c.hits[k] / P]); pr.push([c.hits[k] / P, c.hits[k] / c.rows[k]]);
    }
    draw('roc', roc, roc[i + 1]); draw('pr', pr, pr[i]);
    var t = Math.max(c.threshold[i], 0), shown = t >= 0.1 ? t.toFixed(2) : t.toPrecision(2);
    by('threshold').textContent = shown;
    by('meaning').innerHTML = '<tr><td>rows called so</td><td>' + said.toLocaleString('en') + ' (' +
      share(said / (P + N)) + ')</td></tr><tr><td>of these right: precision</td><td>' + share(hit / said) +
      '</td></tr><tr><td>found of the class: recall</td><td>' + share(hit / P) + '</td></tr><tr><td>missed</td><td>' +
      (P - hit).toLocaleString('en') + '</td></tr><tr><td>false alarms</td><td>' + (said - hit).toLocaleString('en') +
      ' (' + share((said - hit) / N) + ' of all others)</td></tr>';
    by('use').textContent = "--threshold '" + pick.value + '=' + shown + "'";
  }
  function begin() {
    var c = curves[pick.value], n = c.threshold.length, best = 0, least = 9;
    slide.max = n - 1;
    for (var k = 0; k < n; k++) {
      var far = Math.abs(c.threshold[k] - 0.5); if (far < least) { least = far; best = k; }
    }
    slide.value = n - 1 - best; show();
  }
  pick.addEventListener('change', begin); slide.addEventListener('input', show); begin();
})();
"""


def threshold_section(scores: NamedScores) -> str:
    """ROC and precision-recall of a class against the rest, and a threshold to move."""
    curves = {name: _thinned(curve) for name, curve in scores.thresholds.items()}
    if not curves:
        return ""
    rarest = min(curves, key=lambda name: curves[name]["hits"][-1])
    options = "".join(
        f'<option value="{escape(name)}"{" selected" if name == rarest else ""}>{escape(name)}</option>'
        for name in curves
    )
    first = curves[rarest]
    positive, every = first["hits"][-1], first["rows"][-1]
    roc = [(0.0, 0.0)] + [
        ((rows - hits) / (every - positive), hits / positive)
        for hits, rows in zip(first["hits"], first["rows"], strict=True)
    ]
    precise = [(hits / positive, hits / rows) for hits, rows in zip(first["hits"], first["rows"], strict=True)]
    chance = CurveLine("by chance", "--third", [(0.0, 0.0), (1.0, 1.0)], 1.2, "4 3")
    drawn = [
        plot(
            [CurveLine("found of the class", "--main", roc, 2.2), chance],
            SHARES,
            "false alarms of all others",
            "ROC curve",
            square=True,
            identity=' id="roc"',
        ),
        plot(
            [CurveLine("right of those called so", "--main", precise, 2.2)],
            SHARES,
            "found of the class: recall",
            "precision and recall",
            square=True,
            identity=' id="pr"',
        ),
    ]
    # what is in a script element ends at "</", whatever the quotes say
    data = json.dumps(curves, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return (
        "<h2>A threshold to choose</h2><p class=soft>One class against the rest. Move the threshold: the class is said "
        "wherever its probability is at least so large.</p>"
        f'<div class="controls"><label>class <select id="class">{options}</select></label>'
        '<input type="range" id="slide" min="0" max="100" aria-label="threshold">'
        '<span>threshold <output id="threshold">0.50</output></span></div>'
        f'<div class="pair"><section><p class=soft>ROC</p>{drawn[0]}</section>'
        f"<section><p class=soft>Precision and recall</p>{drawn[1]}</section></div>"
        '<table><tbody id="meaning"></tbody></table>'
        '<p class=soft>To predict with it: <code>smartcl predict MODEL FILE <span id="use"></span></code></p>'
        f'<script type="application/json" id="curves">{data}</script>'
    )


def _thinned(curve: dict[str, list[float]]) -> dict[str, list[float]]:
    """At most ``MOST_POINTS`` points, the first and the last among them."""
    count = len(curve["threshold"])
    step = max(1, -(-count // MOST_POINTS))
    at = [*range(0, count - 1, step), count - 1]
    return {name: [values[place] for place in at] for name, values in curve.items()}


#: Classes that have a colour of their own, and rows and columns of the confusion.
COLOURS, MOST_CONFUSED = 8, 20
#: Classes and changes that are listed.
MOST_LISTED, MOST_CHANGES = 40, 20
KINDS = {
    "changed": "the labels of the same inputs changed",
    "new task": "other inputs came, with what was known before still true",
    "recurred": "an earlier state came back",
}


@dataclass(frozen=True)
class Shown:
    """What the page shows beside the scores: changes with what moved, and what the model listens to and remembers."""

    title: str
    told: str
    scores: NamedScores
    changes: Sequence[dict[str, Any]] = ()
    inspected: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


def page_of_training(model: TableModel, name: str, inputs: Sequence[str]) -> str:
    """The page of a training: every row was answered before it was learned."""
    result = inspection(model)
    delay = f", labels known {model.delay:,} rows later" if model.delay else ""
    told = f"{result['rows']:,} rows of {', '.join(inputs)}, each answered before it was learned{delay}"
    passed = result["passed_over"]
    counts = {"Skipped rows": passed["skipped"], "Missing values": passed["missing"]}
    return scores_page(Shown(name, told, model.scores_, result["changes"], result, counts))


def page_of_evaluation(model: TableModel, found: Evaluation, name: str, inputs: Sequence[str], frozen: bool) -> str:
    """The page of ``smartcl evaluate``."""
    how = "the model as it is" if frozen else "each row answered, then learned by a copy"
    changes = [{**each.state_dict(), "moved": found.moved.get(str(each.row), [])} for each in found.scores.changes]
    told = f"{found.scores.overall.rows:,} rows of {', '.join(inputs)}, {how}"
    counts = {"Skipped rows": found.skipped, "Missing values": found.odd.missing}
    return scores_page(Shown(name, told, found.scores, changes, inspection(model), counts))


def scores_page(shown: Shown) -> str:
    """The page."""
    scores = shown.scores
    parts = [
        f"<h1>{escape(shown.title)}</h1><p class=soft>{escape(shown.told)}</p>",
        _tiles(scores),
        *(f"<p class=note>{escape(text[:1].upper() + text[1:])}.</p>" for text in scores.warnings()),
        _over_time(shown),
        _changes(shown),
        '<div class="pair">',
        f"<section>{_by_class(scores)}</section><section>{_confusion(scores)}</section>",
        "</div>",
        _calibration(scores),
        threshold_section(scores),
        _inspected(shown.inspected),
        *(_counted(title, counts) for title, counts in shown.counts.items()),
        "<footer class=soft>Made by smartcl. Accuracy and all else are of answers given before the label was known. "
        "The page holds everything it shows and asks no server.</footer>",
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(shown.title)}: how good it is</title><style>{STYLE}</style></head><body>"
        + "".join(parts)
        + f"<script>{THRESHOLD_SCRIPT}</script></body></html>\n"
    )


def _tiles(scores: NamedScores) -> str:
    """The numbers that a person asks for first."""
    all_rows, late = scores.overall, scores.last_tenth
    tiles = [
        (
            "accuracy",
            percent(all_rows.accuracy),
            f"commonest {percent(all_rows.commonest)}, last {percent(all_rows.last)}",
        ),
        (
            "in the last tenth",
            percent(late.accuracy),
            f"commonest {percent(late.commonest)}, last {percent(late.last)}",
        ),
        ("balanced accuracy", percent(all_rows.balanced_accuracy), f"last tenth {percent(late.balanced_accuracy)}"),
        ("area under the ROC curve", _number(all_rows.auc), f"last tenth {_number(late.auc)}"),
        ("average precision", _number(all_rows.average_precision), f"last tenth {_number(late.average_precision)}"),
        ("log loss", _number(all_rows.log_loss), f"last tenth {_number(late.log_loss)}"),
        ("calibration error", percent(all_rows.calibration_error), f"last tenth {percent(late.calibration_error)}"),
    ]
    return (
        '<div class="tiles">'
        + "".join(
            f'<div class="tile"><span>{name}</span><b>{value}</b><span>{beside}</span></div>'
            for name, value, beside in tiles
        )
        + "</div><p class=soft>Commonest: always saying the label that was commonest so far. Last: repeating the last "
        "known label. Both know as many labels as the model does.</p>"
    )


def _over_time(shown: Shown) -> str:
    points = shown.scores.over_time
    if not points:
        return ""
    last = points[-1]["row"]
    marks = [ChangeMark(change["row"] / last, str(number)) for number, change in enumerate(shown.changes, 1)]
    marks = [mark for mark in marks if mark.x <= 1][-MOST_CHANGES:]
    across = [point["row"] / last for point in points]
    lines = [
        CurveLine("accuracy", "--main", [(x, p["accuracy"]) for x, p in zip(across, points, strict=True)], 2.2),
        CurveLine(
            "always the commonest", "--other", [(x, p["commonest"]) for x, p in zip(across, points, strict=True)], 1.3
        ),
        CurveLine(
            "repeat the last", "--third", [(x, p["last"]) for x, p in zip(across, points, strict=True)], 1.3, "4 3"
        ),
    ]
    if any(point["auc"] is not None for point in points):
        area = [(x, p["auc"]) for x, p in zip(across, points, strict=True)]
        lines.append(CurveLine("area under the curve", "--c2", area, 1.3))
    ticks = [f"{round(share * last):,}" for share in (0, 0.25, 0.5, 0.75, 1)]
    told = " Numbered lines are changes of the stream, listed below." if marks else ""
    html = (
        f"<h2>Over time</h2><p class=soft>By windows of rows.{told}</p>"
        f"{plot(lines, ticks, 'rows', 'accuracy over time', marks=marks)}"
    )
    names = [line["class"] for line in sorted(shown.scores.by_class, key=lambda line: -line["rows"])][:COLOURS]
    place = {name: number for number, name in enumerate(shown.scores.classes)}
    shares = [(name, [point["shares"][place[name]] for point in points]) for name in names]
    mix = stacked(across, shares, ticks, "rows", "share of each class over time")
    return f"{html}<h2>Classes over time</h2><p class=soft>The share of each label.</p>{mix}"


def _changes(shown: Shown) -> str:
    if not shown.changes:
        return ""
    rows = [
        (
            str(number),
            f"{change['row']:,}",
            f"{change['kind']}: {KINDS[change['kind']]}",
            "; ".join(change["moved"][:4]) or "nothing that stored samples show",
        )
        for number, change in enumerate(shown.changes, 1)
    ]
    return (
        "<h2>Changes of the stream</h2>"
        f"{_table(('', 'after row', 'kind', 'what moved'), rows[-MOST_CHANGES:], 'words')}"
    )


def _by_class(scores: NamedScores) -> str:
    classes = sorted(scores.by_class, key=lambda line: -line["rows"])
    rows = (
        [c["class"], f"{c['rows']:,}", *map(_share, (c["precision"], c["recall"], c["f1"])), _number(c["auc"])]
        for c in classes[:MOST_LISTED]
    )
    return f"<h2>By class</h2>{_table(('class', 'rows', 'precision', 'recall', 'F1', 'AUC'), rows)}"


def _confusion(scores: NamedScores) -> str:
    if not scores.confusion:
        return ""
    by_class = sorted(scores.by_class, key=lambda line: -line["rows"])[:MOST_CONFUSED]
    names, rows = [line["class"] for line in by_class], {line["class"]: max(1, line["rows"]) for line in by_class}
    counts = {(cell["label"], cell["prediction"]): cell["rows"] for cell in scores.confusion}
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
    body = ""
    for label in names:
        cells = "".join(
            f'<td style="background: rgba(var(--cell),{0.5 * counts.get((label, said), 0) / rows[label]:.2f})">'
            f"{counts.get((label, said), 0):,}</td>"
            for said in names
        )
        body += f"<tr><td>{escape(label)}</td>{cells}</tr>"
    return (
        "<h2>Confusion</h2><p class=soft>Labels by row, predictions by column.</p>"
        f'<div class="wide"><table class="confusion"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _calibration(scores: NamedScores) -> str:
    bins = scores.calibration
    if not bins:
        return ""
    rows = sum(line["rows"] for line in bins)
    ideal = CurveLine("what is said comes true", "--third", [(0.0, 0.0), (1.0, 1.0)], 1.2, "4 3")
    true = CurveLine("what came true", "--main", [(line["said"], line["true"]) for line in bins], 2.2, dots=True)
    drawn = plot(
        [true, ideal], ["0%", "25%", "50%", "75%", "100%"], "probability of the prediction", "calibration", square=True
    )
    bars = "".join(
        f"<div>{line['from']:.0%} to {line['from'] + 0.1:.0%}</div>"
        f"<u style='width:{100 * line['rows'] / rows:.1f}%'></u>"
        f"<em>{line['rows']:,}</em>"
        for line in bins
    )
    return (
        "<h2>Calibration</h2><p class=soft>How often a prediction came true, by the probability it was made with.</p>"
        f'<div class="pair"><section>{drawn}</section><section><p class=soft>Rows by the probability of the prediction'
        f'</p><div class="bars">{bars}</div></section></div>'
    )


def _inspected(found: dict[str, Any]) -> str:
    if not found:
        return ""
    strongest = found["strongest_features"][:15]
    most = max((line["moves"] for line in strongest), default=1.0)
    bars = "".join(
        f"<div>{escape(line['feature'])}</div><u style='width:{100 * line['moves'] / most:.1f}%'></u>"
        f"<em>{line['moves']:.1%}</em>"
        for line in strongest
    )
    matters = (
        "<h2>What the answers depend on</h2><p class=soft>How far answers move, in the mean, when a feature has the "
        f'value of another remembered row.</p><div class="bars">{bars}</div>'
        if strongest
        else ""
    )
    held = sorted(found["held_by_class"].items(), key=lambda item: -item[1])
    classes = ", ".join(f"{escape(name)} {count:,}" for name, count in held[:8])
    more = f" and {len(held) - 8} more" if len(held) > 8 else ""
    ages = found["held_by_age"] or []
    fullest = max((line["samples"] for line in ages), default=1) or 1
    by_age = "".join(
        f"<div>{line['from']:,} to {line['to']:,}</div><u style='width:{100 * line['samples'] / fullest:.1f}%'></u>"
        f"<em>{line['samples']:,}</em>"
        for line in ages
    )
    members = [
        (line["name"], f"{line['weight']:.0%}", percent(line["accuracy"]), format_bytes(line["nbytes"]))
        for line in found["members"]
    ]
    remembers = (
        f"<h2>What it remembers</h2><p>{found['samples_held']:,} rows in {format_bytes(found['memory_bytes'])} of "
        f"{format_bytes(found['budget_bytes'])}: {classes}{more}.</p>"
        + (f'<p class=soft>By the rows they came with</p><div class="bars">{by_age}</div>' if by_age else "")
        + ("<h2>Who answers</h2>" + _table(("member", "weight", "accuracy lately", "size"), members) if members else "")
    )
    return f'<div class="pair"><section>{matters}</section><section>{remembers}</section></div>'


def _counted(title: str, counts: dict[str, int]) -> str:
    rows = ([name, f"{count:,}"] for name, count in list(counts.items())[:MOST_LISTED])
    return f"<h2>{title}</h2>{_table(('', 'rows'), rows)}" if counts else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
