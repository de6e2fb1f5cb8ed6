/* The table of samples: search, filters, order, pages, and opening one. */

const PAGE = 50;
const COIN_TOSS = Number(document.getElementById(":table").dataset.coinToss);
const at = (id) => document.getElementById(id);
const everyone = data.samples;
const placeOf = new Map(everyone.map((sample, i) => [sample.id, i]));
const state = { words: [], filters: new Map(), column: null, falling: false, page: 0, open: new Set() };
const narrow = window.matchMedia("(max-width: 48rem)"); /* as in page.css */
let listed = everyone.map((_, i) => i);

/* ── Columns ─────────────────────────────────────────────────────────────── */

const compared = everyone.some((sample) => sample.differences);
const judgedContexts = (sample) => sample.contexts.some((context) => context.level !== undefined);
const usedOf = (sample) => (judgedContexts(sample) ? sample.contexts.filter((context) => context.used).length : null);
const supportedOf = (sample) => (sample.claims ?? []).filter((claim) => claim.supported).length;

const columns = [
  { title: "Sample", value: (_, i) => i, wide: false },
  ...data.metrics.flatMap((metric, i) => [
    { title: metric.title, value: (sample) => sample.scores[i]?.score, numeric: true,
      cell: (sample) => scoreCell(sample.scores[i]) },
    ...(compared ? [{ title: "±", label: `Difference in ${metric.title.toLowerCase()}`, numeric: true, wide: true,
      value: (sample) => sample.differences?.[i], cell: (sample) => [signed(sample.differences?.[i])] }] : []),
  ]),
  { title: "Used", label: "Contexts used", numeric: true, wide: true, value: usedOf,
    cell: (sample) => [`${usedOf(sample) ?? "–"} / ${sample.contexts.length}`] },
  { title: "Missing", label: "Missing items", numeric: true, wide: true,
    value: (sample) => (sample.sufficient === undefined ? null : (sample.missing ?? []).length) },
  { title: "Claims", label: "Claims supported", numeric: true, wide: true,
    value: (sample) => (sample.claims ? supportedOf(sample) / sample.claims.length : null),
    cell: (sample) => [sample.claims ? `${supportedOf(sample)} / ${sample.claims.length}` : "–"] },
  { title: "Margin", label: "Margin of the closest verdict", numeric: true, wide: true,
    value: (sample) => sample.margin, cell: (sample) => [number(sample.margin)] },
];

function scoreCell(score) {
  if (!score) return ["–"];
  const word = score.band ?? words(score.status);
  return [el("span", { class: "score" }, number(score.score)), el("span", { class: "band" }, dot(markOf(score)), word)];
}

/* ── What is listed ──────────────────────────────────────────────────────── */

const folded = (text) => text.normalize("NFC").toLowerCase();
let haystacks = null;

/** The texts to search, folded once, when a search is first made; a context once for all samples. */
function searched() {
  haystacks ??= {
    texts: data.texts.map(folded),
    samples: everyone.map((sample) => folded([sample.id, sample.query, sample.answer ?? "", sample.truth ?? "",
      ...(sample.missing ?? []), ...(sample.claims ?? []).map((claim) => claim.text),
      ...sample.scores.map((score) => score?.cause ? words(score.cause) : "")].join("\n"))),
  };
  return haystacks;
}

function finder(term) {
  const { texts, samples } = searched();
  const there = texts.map((text) => text.includes(term));
  return (sample, i) => samples[i].includes(term) || sample.contexts.some((context) => there[context.text]);
}

function choose() {
  const tests = [...state.words.map(finder), ...state.filters.values()];
  listed = everyone.map((_, i) => i).filter((i) => tests.every((test) => test(everyone[i], i)));
  const column = columns[state.column];
  if (column) {
    const values = everyone.map(column.value);
    const turn = state.falling ? -1 : 1;
    const none = (x) => x === null || x === undefined;
    listed.sort((a, b) => none(values[a]) - none(values[b]) || (none(values[a]) ? 0 : turn * (values[a] - values[b])) || a - b);
  }
}

function show({ page = 0 } = {}) {
  choose();
  state.page = page;
  render();
}

/* ── Drawing ─────────────────────────────────────────────────────────────── */

const body = at(":table").tBodies[0];

function render() {
  const last = Math.max(0, Math.ceil(listed.length / PAGE) - 1);
  state.page = Math.min(state.page, last);
  const from = state.page * PAGE;
  const shown = listed.slice(from, from + PAGE);
  body.replaceChildren(...shown.flatMap(rows));
  const few = listed.length === everyone.length ? "" : `${count(listed.length)} of `;
  const which = last ? `, ${count(from + 1)} to ${count(from + shown.length)} shown` : "";
  at(":status").textContent = `${few}${plural(everyone.length, "sample", "samples")}${which}`;
  pages(last);
  headings();
}

function rows(i) {
  const sample = everyone[i];
  const opened = state.open.has(i);
  const title = sample.query.length > 160 ? sample.query.slice(0, unparted(sample.query, 160)) + "…" : sample.query;
  const button = el("button", { type: "button", class: "opener", "aria-expanded": String(opened),
    "aria-controls": `:story-${i}`, onclick: () => toggle(i) }, el("bdi", { class: "query" }, title));
  const cells = columns.slice(1).map((column) => el("td", { class: (column.numeric ? "num " : "") + (column.wide ? "wide" : "") },
    ...(column.cell ? column.cell(sample) : [String(column.value(sample) ?? "–")])));
  const head = el("th", { scope: "row" }, button, el("span", { class: "id" }, inline(sample.id)));
  return [el("tr", { class: "row", id: `:row-${i}` }, head, ...cells), storyRow(i, opened)];
}

function storyRow(i, opened) {
  /* No more than are shown, or the browser makes room for those that are not. */
  const shown = columns.filter((column) => !column.wide || !narrow.matches).length;
  const cell = el("td", { colspan: String(shown) });
  if (opened) cell.append(story(everyone[i], `:story-${i}`));
  return el("tr", { class: "story-row", id: `:story-${i}`, hidden: !opened, onkeydown: (event) => {
    if (event.key === "Escape") toggle(i);
  } }, cell);
}

function toggle(i) {
  const opening = !state.open.has(i);
  if (opening) state.open.add(i);
  else state.open.delete(i);
  at(`:story-${i}`).replaceWith(storyRow(i, opening));
  const button = at(`:row-${i}`).querySelector("button");
  button.setAttribute("aria-expanded", String(opening));
  if (!opening) button.focus();
}

function headings() {
  const cells = columns.map((column, i) => {
    const sorted = state.column === i;
    const way = sorted ? (state.falling ? "descending" : "ascending") : null;
    const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, way === null ? "" : state.falling ? "▼" : "▲");
    const label = el("span", { "aria-hidden": column.label ? "true" : null }, column.title);
    const name = column.label ? el("span", { class: "hidden" }, column.label) : null;
    const button = el("button", { type: "button", class: "sorter", title: column.label, onclick: () => sortBy(i) }, label, name, arrow);
    return el("th", { scope: "col", "aria-sort": way, class: (column.numeric ? "num " : "") + (column.wide ? "wide" : "") }, button);
  });
  const focused = [...at(":table").tHead.querySelectorAll("button")].indexOf(document.activeElement);
  at(":table").tHead.replaceChildren(el("tr", {}, ...cells));
  if (focused >= 0) at(":table").tHead.querySelectorAll("button")[focused].focus();
}

/** Lowest first, then highest first, then as in the file. */
function sortBy(i) {
  if (state.column !== i) [state.column, state.falling] = [i, false];
  else if (!state.falling) state.falling = true;
  else [state.column, state.falling] = [null, false];
  show();
}

function pages(last) {
  const place = at(":pages");
  place.hidden = last === 0;
  const turn = (title, page, off) => el("button", { type: "button", disabled: off, onclick: () => {
    state.page = page;
    render();
    at(":samples").scrollIntoView();
    at(":pages").querySelector(page > 0 ? "button" : "button:last-of-type").focus({ preventScroll: true });
  } }, title);
  place.replaceChildren(
    turn("Previous", state.page - 1, state.page === 0),
    el("span", {}, `Page ${count(state.page + 1)} of ${count(last + 1)}`),
    turn("Next", state.page + 1, state.page === last));
}

/* ── Controls ────────────────────────────────────────────────────────────── */

function choice(title, options) {
  const tests = options.map((option) => option.test);
  const select = el("select", { onchange: () => {
    const test = tests[select.selectedIndex - 1];
    if (test) state.filters.set(title, test);
    else state.filters.delete(title);
    show();
  } }, el("option", {}, "all"), ...options.map(({ name, n }) => el("option", {}, `${name} (${count(n)})`)));
  return options.length ? el("label", {}, el("span", {}, title), select) : null;
}

function counted(options) {
  return options.map((option) => ({ ...option, n: everyone.filter(option.test).length })).filter((option) => option.n);
}

const BANDS = ["excellent", "good", "mixed", "fair", "poor", "very poor", "none"];

function controls() {
  const wordOf = (score) => (score ? score.band ?? words(score.status) : null);
  const place = (word) => (BANDS.indexOf(word) + 1 || BANDS.length + 1);
  const byMetric = data.metrics.map((metric, i) => {
    const known = [...new Set(everyone.map((sample) => wordOf(sample.scores[i])))].filter(Boolean);
    known.sort((a, b) => place(a) - place(b));
    return choice(metric.title, counted(known.map((name) => ({ name, test: (sample) => wordOf(sample.scores[i]) === name }))));
  });
  const changed = (better) => (sample) => (sample.differences ?? []).some((x) => x !== null && (better ? x > 0 : x < 0));
  const others = counted([
    { name: "near a coin toss", test: (sample) => sample.margin < COIN_TOSS },
    { name: "with missing items", test: (sample) => Boolean(sample.missing) },
    { name: "with unsupported claims", test: (sample) => (sample.claims ?? []).some((claim) => !claim.supported) },
    { name: "with a failure", test: (sample) => sample.scores.some((score) => score?.status === "failed") },
    { name: "better than the baseline", test: changed(true) },
    { name: "worse than the baseline", test: changed(false) },
  ]);
  at(":filters").append(...[...byMetric, choice("Show", others)].filter(Boolean),
    el("button", { type: "button", id: ":reset", onclick: reset }, "Reset"));
  at(":filters").hidden = false;
}

const search = at(":search");
let waiting = 0;

function find(text) {
  state.words = folded(text).split(/\s+/u).filter(Boolean);
  show();
}

function reset() {
  at(":filters").reset();
  state.filters.clear();
  [state.column, state.falling] = [null, false];
  find("");
}

/* ── Links ───────────────────────────────────────────────────────────────── */

/** Open the sample that an address names. Sections have addresses that begin with a colon. */
function follow(hash) {
  if (!hash || hash === "#" || hash.startsWith("#:")) return false;
  let id = hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* a stray per cent sign stands for itself */ }
  const i = placeOf.get(id);
  if (i === undefined) return false;
  if (!listed.includes(i)) reset();
  state.page = Math.floor(listed.indexOf(i) / PAGE);
  state.open.add(i);
  render();
  at(`:row-${i}`).scrollIntoView();
  at(`:row-${i}`).querySelector("button").focus({ preventScroll: true });
  return true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && follow(link.getAttribute("href"))) {
    event.preventDefault();
    history.pushState(null, "", link.getAttribute("href"));
  }
  const item = event.target.closest("button[data-find]");
  if (item) {
    reset();
    search.value = item.dataset.find;
    find(search.value);
    at(":samples").scrollIntoView();
    search.focus({ preventScroll: true });
  }
});
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => find(search.value), 120);
});
at(":filters").addEventListener("submit", (event) => event.preventDefault());
narrow.addEventListener("change", render);
window.addEventListener("hashchange", () => follow(location.hash));
window.addEventListener("popstate", () => follow(location.hash));

controls();
render();
follow(location.hash);
