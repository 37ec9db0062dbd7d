"""The part of a page in which a person chooses from which probability on a class is said."""

from __future__ import annotations

import json
from html import escape

from smartcl.account.named_scores import NamedScores
from smartcl.files.plot_parts import CurveLine, plot

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
    """At most so many points, the first and the last among them."""
    count = len(curve["threshold"])
    step = max(1, -(-count // MOST_POINTS))
    at = [*range(0, count - 1, step), count - 1]
    return {name: [values[place] for place in at] for name, values in curve.items()}
