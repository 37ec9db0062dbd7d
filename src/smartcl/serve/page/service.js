"use strict";
// The page of a service: it shows the news that come each second, and asks rows of its own.

const per = document.body.dataset.per;
const place = (id) => document.getElementById(id);
const shares = { model: "the model", majority: "always the most frequent label", last_label: "the label before" };
const dashes = { model: "", majority: "7 4", last_label: "2 4" };
const colours = { model: "--model", majority: "--majority", last_label: "--last" };
let shown = "before_learning", latest = null, columns = "", paces = [], asked = 0;
let token = sessionStorage.getItem("token") || "";
let key = new URLSearchParams(location.search).get(per) || "";

function make(tag, content, attributes = {}) {
  const made = tag === "svg" || attributes.svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (name !== "svg") made.setAttribute(name, value);
  for (const each of [content].flat()) if (each !== null && each !== undefined) made.append(each);
  return made;
}
const drawn = (tag, attributes, content = null) => make(tag, content, { ...attributes, svg: true });
const number = (value, digits = 0) => value === null || value === undefined ? "–"
  : value.toLocaleString("en", { maximumFractionDigits: digits });
const percent = (value) => value === null || value === undefined ? "–" : `${number(100 * value, 1)} %`;
function bytes(value) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 1000) return `${number(value, unit === "B" ? 0 : 1)} ${unit}`;
    value /= 1000;
  }
  return `${number(value, 1)} TB`;
}
const address = (path) => per && key ? `${path}?${encodeURIComponent(per)}=${encodeURIComponent(key)}` : path;

async function ask(path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(address(path), {
    headers, method: body === undefined ? "GET" : "POST", body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.status === 401) place("token-form").hidden = false;
  return answer;
}
async function askJson(path, body) {
  const answer = await ask(path, body);
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error || answer.statusText);
  return content;
}

async function watch() {
  for (;;) {
    try {
      const answer = await ask("/events");
      if (answer.status === 401) { say("the service wants its token"); return; }
      if (!answer.ok) throw new Error((await answer.json()).error);
      place("token-form").hidden = true;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let held = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        held += value;
        const events = held.split("\n\n");
        held = events.pop();
        for (const event of events) if (event.startsWith("data: ")) show(JSON.parse(event.slice(6)));
      }
      say("the service has ended; trying again");
    } catch (error) {
      say(`not connected: ${error.message}; trying again`);
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}
const say = (text) => { place("status").textContent = text; };

function show(news) {
  if (news.error) { say(news.error); return; }
  latest = news;
  const { service, model } = news;
  const troubles = Object.values(service.troubles);
  place("trouble").hidden = !troubles.length;
  place("trouble").textContent = troubles.join("; ");
  paces = [...paces.slice(-119), service.rows_per_second];
  say(`version ${number(service.version)} · up ${number(service.up_seconds / 60)} min`);
  showTiles(service, model, news.scores);
  showAccuracy();
  showPace();
  showCalibration();
  if (model) showModel(model);
  showMistakes(news.scores);
  showVersions(service);
  showForm(news.columns);
}

function showTiles(service, model, scores) {
  const tiles = [
    [number(service.version), "rows learned"],
    [percent(scores.before_learning.accuracy), "right before learning"],
    [percent(scores.answered.accuracy), `right as answered, of ${number(scores.answered.rows)}`],
    [number(service.rows_per_second), "rows learned a second"],
    [number(service.queued_rows), "rows in the queue"],
    [number(service.pending.rows), `wait for a label, ${bytes(service.pending.bytes)} of ${bytes(service.pending.budget_bytes)}`],
    [number(service.pending.expired + service.pending.crowded_out), "left without a label"],
  ];
  if (model) tiles.push([number(model.samples_held), `samples in ${bytes(model.memory_bytes)} of ${bytes(model.budget_bytes)}`]);
  if (service.shadow) tiles.push([`${service.shadow.shadow_right} : ${service.shadow.served_right}`,
    `shadow : served, right of ${service.shadow.rows}`]);
  place("tiles").replaceChildren(...tiles.map(([value, name]) =>
    make("div", [make("b", value), make("span", name)], { class: "tile" })));
}

function axes(svg, width, height, left, bottom, lowest, highest, label) {
  for (const part of [0, 0.5, 1]) {
    const y = (height - bottom) * (1 - part) + 8 * part;
    svg.append(drawn("line", { x1: left, x2: width - 8, y1: y, y2: y, stroke: "var(--line)" }));
    svg.append(drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, label(lowest + part * (highest - lowest))));
  }
}
function legend(names) {
  return make("div", names.map((name) => make("span", [
    make("svg", drawn("line", { x1: 0, x2: 28, y1: 5, y2: 5, stroke: `var(${colours[name]})`, "stroke-width": 3, "stroke-dasharray": dashes[name] }), { viewBox: "0 0 28 10" }),
    shares[name],
  ])), { class: "legend" });
}

function showAccuracy() {
  const scores = latest.scores[shown], spans = scores.over_time;
  if (!spans.length) { place("accuracy").replaceChildren(make("p", "no labels yet")); return; }
  const [width, height, left, bottom] = [560, 240, 48, 26];
  const svg = make("svg", null, { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(drawn("title", {}, `accuracy ${percent(scores.accuracy)} of ${number(scores.rows)} rows`));
  axes(svg, width, height, left, bottom, 0, 1, (value) => `${number(100 * value)} %`);
  const last = spans[spans.length - 1].rows;
  const x = (rows) => left + (width - left - 8) * Math.min(1, Math.max(0, rows / last));
  const y = (share) => (height - bottom) * (1 - share) + 8 * share;
  if (shown === "before_learning" && latest.model) {
    for (const change of latest.model.changes) {
      const at = x(change.row);
      const line = drawn("line", { x1: at, x2: at, y1: 8, y2: height - bottom, stroke: "var(--change)", "stroke-width": 2 });
      line.append(drawn("title", {}, `${change.kind} at row ${number(change.row)}`));
      svg.append(line, drawn("text", { x: Math.min(at + 4, width - 60), y: 18 }, change.kind));
    }
  }
  for (const name of ["last_label", "majority", "model"]) {
    const points = spans.map((span) => `${x(span.rows).toFixed(1)},${y(span[name]).toFixed(1)}`).join(" ");
    svg.append(drawn("polyline", { points, fill: "none", stroke: `var(${colours[name]})`, "stroke-width": name === "model" ? 2.5 : 1.8, "stroke-dasharray": dashes[name] }));
    if (spans.length === 1) svg.append(drawn("circle", { cx: x(spans[0].rows), cy: y(spans[0][name]), r: 3, fill: `var(${colours[name]})` }));
  }
  svg.append(drawn("text", { x: left, y: height - 6 }, `row 1`));
  svg.append(drawn("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, `row ${number(last)}`));
  place("accuracy").replaceChildren(svg, legend(["model", "majority", "last_label"]));
}

function showPace() {
  const [width, height, left, bottom] = [560, 280, 48, 26];
  const highest = Math.max(1, ...paces);
  const svg = make("svg", null, { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(drawn("title", {}, `${number(paces[paces.length - 1])} rows learned a second now`));
  axes(svg, width, height, left, bottom, 0, highest, (value) => number(value, highest < 10 ? 1 : 0));
  const points = paces.map((pace, at) => {
    const share = pace / highest;
    return `${width - 8 - (paces.length - 1 - at) * (width - left - 8) / 119},${(height - bottom) * (1 - share) + 8 * share}`;
  }).join(" ");
  svg.append(drawn("polyline", { points, fill: "none", stroke: "var(--model)", "stroke-width": 2 }));
  svg.append(drawn("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, "now"));
  svg.append(drawn("text", { x: left, y: height - 6 }, "2 minutes ago"));
  place("pace").replaceChildren(svg);
}

function showCalibration() {
  const bins = latest.scores[shown].calibration;
  if (!bins.length) { place("calibration").replaceChildren(make("p", "no labels yet")); return; }
  const width = 560, size = 260, edge = 48;
  const svg = make("svg", null, { viewBox: `0 0 ${width} ${size}`, role: "img" });
  svg.append(drawn("title", {}, "how often answers were right, by how sure they were"));
  const at = (value) => edge + (width - edge - 18) * value, up = (value) => size - 30 - (size - 42) * value;
  svg.append(drawn("line", { x1: at(0), y1: up(0), x2: at(1), y2: up(1), stroke: "var(--soft)", "stroke-dasharray": "4 4" }));
  const most = Math.max(...bins.map((bin) => bin.rows));
  for (const bin of bins) {
    const dot = drawn("circle", { cx: at(bin.sure), cy: up(bin.right), r: 3 + 7 * Math.sqrt(bin.rows / most), fill: "var(--model)", "fill-opacity": 0.75 });
    dot.append(drawn("title", {}, `${number(bin.rows)} answers: ${percent(bin.sure)} sure, ${percent(bin.right)} right`));
    svg.append(dot);
  }
  svg.append(drawn("text", { x: at(0.5), y: size - 8, "text-anchor": "middle" }, "how sure"));
  svg.append(drawn("text", { x: at(0) + 8, y: up(1) + 4 }, "how often right"));
  for (const part of [0, 1]) svg.append(drawn("text", { x: at(0) - 6, y: up(part) + 4, "text-anchor": "end" }, `${100 * part} %`));
  place("calibration").replaceChildren(svg);
}

function bars(entries, text) {
  const most = Math.max(1e-12, ...entries.map(([, value]) => value));
  return entries.map(([name, value]) => {
    const bar = make("i", null);
    bar.style.width = `${100 * value / most}%`;
    return make("div", [make("span", name), make("div", bar), make("span", text(value))], { class: "bar" });
  });
}

function showModel(model) {
  const classes = Object.entries(model.held_by_class).sort((one, other) => other[1] - one[1]);
  const rest = classes.slice(12).reduce((sum, [, held]) => sum + held, 0);
  const some = [...classes.slice(0, 12), ...(rest ? [[`${classes.length - 12} others`, rest]] : [])];
  place("by-class").replaceChildren(...bars(some, (held) => number(held)));
  const ages = model.held_by_age;
  place("by-age").replaceChildren(...(ages ? bars(ages.map((age) => [`${number(age.from)}–${number(age.to)}`, age.samples]), (held) => number(held))
    : [make("p", "not known any more")]));
  place("by-part").replaceChildren(...bars(Object.entries(model.bytes_by_part), bytes));
  const rows = model.members.map((member) => make("tr", [
    make("td", member.name), ...[percent(member.weight), percent(member.accuracy), bytes(member.nbytes), percent(member.time_share)]
      .map((text) => make("td", text, { class: "number" }))]));
  place("members").replaceChildren(rows.length ? table(["member", "weight", "right lately", "bytes", "time"], rows)
    : make("p", `one learner: ${model.method}`));
}
const table = (names, rows) => make("table", [make("thead", make("tr", names.map((name) => make("th", name)))), make("tbody", rows)]);
const told = (row) => Object.entries(row)
  .map(([name, value]) => `${name}: ${typeof value === "number" ? Number(value.toPrecision(4)) : value}`).join(", ");

function showMistakes(scores) {
  const found = shown === "answered" ? scores.answered.mistakes : scores.before_learning.mistakes;
  const rows = found.map((each) => make("tr", [
    make("td", each.answered), make("td", percent(each.sure), { class: "number" }), make("td", each.label),
    make("td", percent(each.label_had), { class: "number" }),
    make("td", each.sure > 0.9 ? "doubtful" : ""), make("td", number(each.version), { class: "number" }), make("td", told(each.row), { class: "row" })]));
  place("mistakes").replaceChildren(rows.length ? table(["answered", "sure", "label", "it had", "", "version", "row"], rows) : make("p", "none yet"));
}

async function showDoubts() {
  try {
    const { doubts, asked: looked, doubted } = await askJson("/doubts");
    const rows = doubts.map((each) => make("tr", [
      make("td", each.label), make("td", percent(each.label_has), { class: "number" }), make("td", each.likely),
      make("td", percent(each.likely_has), { class: "number" }), make("td", each.row ? told(each.row) : each.id, { class: "row" })]));
    place("doubts").replaceChildren(make("p", `${number(doubted)} of ${number(looked)} remembered rows`),
      rows.length ? table(["label", "it has", "more likely", "that has", "row"], rows) : make("p", "no label is doubtful"));
  } catch (error) { place("doubts").replaceChildren(make("p", error.message)); }
}

function showVersions(service) {
  const there = service.saved_versions.join(",");
  if (place("versions").dataset.there === there) return;
  place("versions").dataset.there = there;
  place("versions").replaceChildren(...(there ? service.saved_versions.toReversed().map((version) => {
    const button = make("button", `Go back to version ${number(version)}`, { type: "button" });
    button.addEventListener("click", async () => {
      if (!button.dataset.sure) { button.dataset.sure = "1"; button.textContent = `Really go back to ${number(version)}?`; return; }
      try { await askJson("/versions", { version }); button.textContent = `Back at ${number(version)}`; }
      catch (error) { button.textContent = error.message; }
    });
    return button;
  }) : [make("p", "none yet: the first save makes one")]));
}

function showForm(given) {
  if (!given || JSON.stringify(given) === columns) return;
  columns = JSON.stringify(given);
  place("fields").replaceChildren(...given.map((column, at) => make("div", [
    make("label", `${column.name} (${column.kind})`, { for: `field-${at}` }),
    make("input", null, { id: `field-${at}`, name: column.name, autocomplete: "off" })])));
}

place("try").addEventListener("submit", async (event) => {
  event.preventDefault();
  const row = {};
  for (const input of place("fields").querySelectorAll("input")) if (input.value !== "") row[input.name] = input.value;
  const id = `page ${Date.now()} ${asked++}`;
  try {
    const answer = await askJson("/predict", { row, id });
    const chances = Object.entries(answer.probabilities).sort((one, other) => other[1] - one[1]).slice(0, 10);
    const labels = chances.map(([label]) => {
      const button = make("button", label, { type: "button" });
      button.addEventListener("click", async () => {
        try { await askJson("/learn", { id, label }); place("answer").append(make("p", `learned as ${label}`)); }
        catch (error) { place("answer").append(make("p", error.message)); }
      }, { once: true });
      return button;
    });
    place("answer").replaceChildren(make("p", [make("b", answer.label), ` by version ${number(answer.version)}`]),
      ...bars(chances, percent), make("p", "What was it really?"), make("div", labels, { class: "choice" }));
  } catch (error) { place("answer").replaceChildren(make("p", error.message)); }
});
for (const [id, which] of [["show-before", "before_learning"], ["show-answered", "answered"]]) {
  place(id).addEventListener("click", () => {
    shown = which;
    for (const other of ["show-before", "show-answered"]) place(other).setAttribute("aria-pressed", String(other === id));
    if (latest) { showAccuracy(); showCalibration(); showMistakes(latest.scores); }
  });
}
place("ask-doubts").addEventListener("click", showDoubts);
place("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = place("token").value.trim();
  sessionStorage.setItem("token", token);
  place("token").value = "";
  watch();
});
if (per) {
  place("key-form").hidden = false;
  place("key-label").textContent = per;
  place("key").value = key;
  place("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const next = new URLSearchParams({ [per]: place("key").value });
    location.search = String(next);
  });
}
if (!per || key) watch(); else say(`name the ${per}`);
