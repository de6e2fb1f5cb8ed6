/* One sample in full. It is built when it is opened. */

const WHOLE = 900; /* characters of a text that are shown without being asked for */
const AROUND = 220; /* characters shown on each side of a quote in a long text */

/** Return a place in a text that does not part a pair of UTF-16 units. */
const unparted = (text, at) => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
};

/** Cut a text where quotes begin and end: [{from, to, claims}], in order, without gaps. */
function cut(text, quotes) {
  const places = new Set([0, text.length, ...quotes.flatMap((quote) => [quote.from, quote.to])]);
  const ends = [...places].sort((a, b) => a - b);
  return ends.slice(1).map((to, i) => ({
    from: ends[i],
    to,
    claims: quotes.filter((quote) => quote.from <= ends[i] && quote.to >= to).map((quote) => quote.claim),
  }));
}

/** Show a text with quotes marked; where it is long, only its beginning and what is around the quotes. */
function excerpt(text, quotes, { whole = false, around = AROUND, head = WHOLE / 2 } = {}) {
  let left = 0;
  const shown = [];
  for (const part of cut(text, quotes)) {
    const inner = part.to - part.from;
    const marked = part.claims.length > 0;
    let before = part.from === 0 ? head : around;
    const after = part.to === text.length && !marked ? 0 : around;
    if (part.from === 0 && part.to === text.length && !marked) before = WHOLE;
    const pieces = [];
    if (whole || inner <= before + after + 80) pieces.push(text.slice(part.from, part.to));
    else {
      const first = unparted(text, part.from + before);
      const second = unparted(text, part.to - after);
      left += second - first;
      pieces.push(text.slice(part.from, first), null, text.slice(second, part.to));
    }
    for (const piece of pieces) {
      if (piece === null) shown.push(el("span", { class: "left-out" }, " […] "));
      else if (!marked) shown.push(piece);
      else shown.push(el("mark", {}, piece));
    }
    if (marked) {
      const told = part.claims.map((claim) => claim + 1).join(", ");
      const label = part.claims.length === 1 ? `evidence for claim ${told}` : `evidence for claims ${told}`;
      shown.push(el("sup", { class: "claim-number" }, el("span", { class: "hidden" }, ` (${label})`), el("span", { "aria-hidden": "true" }, told)));
    }
  }
  return { shown, left };
}

/** A text that may be long, with a button that shows all of it. */
function longText(text, quotes = []) {
  const { shown, left } = excerpt(text, quotes);
  const block = el("p", { dir: "auto", class: "text" }, ...shown);
  if (!left) return [block];
  const all = el("button", { type: "button", class: "small" }, `Show all ${count(text.length)} characters`);
  all.addEventListener("click", () => {
    block.replaceChildren(...excerpt(text, quotes, { whole: true }).shown);
    all.remove();
    block.tabIndex = -1;
    block.focus();
  });
  return [block, all];
}

function scoresOf(sample) {
  const items = data.metrics.map((metric, i) => {
    const score = sample.scores[i];
    if (!score) return null;
    const difference = sample.differences?.[i];
    const facts = [
      score.expected !== undefined ? `expected value ${number(score.expected)}` : null,
      score.confidence !== undefined ? `mean probability of the verdicts ${number(score.confidence)}` : null,
      difference !== undefined && difference !== null ? `${signed(difference)} against the baseline` : null,
      score.cause ? `cause: ${words(score.cause)}` : null,
    ].filter(Boolean);
    const word = score.band ?? words(score.status);
    return el("div", { class: "scored" },
      el("h4", {}, metric.title),
      el("p", { class: "headline" },
        el("span", { class: "middle" }, number(score.score)), " ",
        el("span", { class: "soft" }, `of ${metric.scale} · `), dot(markOf(score)), word),
      ...longText(score.reason),
      facts.length ? el("p", { class: "soft small" }, facts.join(" · ")) : null);
  });
  return el("div", { class: "pair" }, ...items);
}

const markOf = (score) =>
  score.status === "failed" ? "failed" : score.band ? `band-${slug(score.band)}` : "by-rule";

function levelsTold(context) {
  if (!context.levels) return "";
  return data.levels.map((level, i) => `${level} ${number(context.levels[i])}`).join(" · ");
}

function contextsOf(sample, name) {
  if (!sample.contexts.length) return el("p", { class: "soft" }, "There are no contexts.");
  const quotes = sample.contexts.map(() => []);
  [...(sample.claims ?? []), ...(sample.said ?? [])].forEach((claim, i) => {
    if (claim.at) quotes[claim.at[0]].push({ from: claim.at[1], to: claim.at[2], claim: i });
  });
  return el("ol", { class: "contexts" }, ...sample.contexts.map((context, i) => {
    const verdict = context.level === undefined
      ? el("span", { class: "soft" }, "not judged")
      : el("span", {}, dot(`level-${context.level}`), context.level, " · ", context.used ? "used" : "not used");
    const told = [levelsTold(context), context.use !== undefined ? `used ${number(context.use)}` : ""].filter(Boolean);
    const matters = context.matters === undefined ? ""
      : ` · ${context.matters ? "matters" : "does not matter"}${context.p === undefined ? "" : ` ${number(context.p)}`}`;
    return el("li", { id: `${name}:context-${i}`, tabindex: "-1" },
      el("p", { class: "verdict" }, el("strong", {}, `Context ${i + 1}`), " ", verdict, matters),
      ...longText(data.texts[context.text], quotes[i]),
      told[0] ? el("p", { class: "soft small" }, told.join("  |  ")) : null);
  }));
}

/** Go so many characters from a place in a text, a little less where that parts no word. */
function wholeWords(text, place, way) {
  const end = unparted(text, Math.max(0, Math.min(text.length, place + way)));
  if (end === 0 || end === text.length) return end;
  const space = way < 0 ? text.indexOf(" ", end) : text.lastIndexOf(" ", end);
  return Math.abs(space - end) < 30 && (way < 0 ? space < place : space > place) ? space : end;
}

/** A quote with what stands around it in its context. */
function quoted(claim, sample) {
  if (!claim.at) return claim.quote === undefined ? null : judged(claim.quote, "blockquote");
  const [place, from, to] = claim.at;
  const text = data.texts[sample.contexts[place].text];
  const [start, end] = [wholeWords(text, from, -120), wholeWords(text, to, 120)];
  const quote = text.slice(from, Math.min(to, from + 2000));
  return el("blockquote", { dir: "auto", class: "text" },
    start > 0 ? "… " : "", text.slice(start, from), el("mark", {}, quote),
    to - from > 2000 ? " […] " : "", text.slice(to, end), end < text.length ? " …" : "");
}

/** Claims and their evidence; those of the answer are numbered on from those of the reference answer. */
function claimsOf(claims, sample, name, start) {
  return el("ol", { class: "claims", start }, ...claims.map((claim) => {
    const p = claim.p === undefined ? "" : ` ${number(claim.p)}`;
    const source = claim.at ? claim.at[0] : null;
    const jump = source === null ? null : el("button", { type: "button", class: "find", onclick: () => {
      const target = document.getElementById(`${name}:context-${source}`);
      target.scrollIntoView({ block: "nearest" });
      target.focus({ preventScroll: true });
    } }, `context ${source + 1}`);
    return el("li", {},
      judged(claim.text),
      el("p", { class: "verdict" }, dot(claim.supported ? "used" : "off"),
        claim.supported ? "supported" : "not supported", el("span", { class: "soft" }, p),
        jump ? ", by " : "", jump),
      quoted(claim, sample));
  }));
}

function sufficiencyOf(sample) {
  if (sample.sufficient === undefined) return null;
  const p = sample.sufficiency === undefined ? "" : ` ${number(sample.sufficiency)}`;
  const verdict = sample.sufficient ? "The contexts together suffice for the query." : "The contexts together do not suffice for the query.";
  const missing = (sample.missing ?? []).map((item) => el("li", {}, inline(item)));
  return el("section", {},
    el("h4", {}, "Sufficiency"),
    el("p", {}, dot(sample.sufficient ? "used" : "off"), verdict, el("span", { class: "soft" }, p)),
    missing.length ? el("p", {}, "Missing:") : null,
    missing.length ? el("ul", {}, ...missing) : null);
}

const titled = (title, ...children) => el("section", {}, el("h4", {}, title), ...children);

/** The full story of a sample. `name` is unique in the page. */
function story(sample, name) {
  return el("article", { class: "story", "aria-label": `Sample ${sample.id}` },
    el("h3", {}, "Sample ", inline(sample.id), " ", el("a", { class: "link", href: address(sample.id) }, "link to this sample")),
    titled("Query", ...longText(sample.query)),
    el("div", { class: "pair" },
      titled("Answer", ...(sample.answer === undefined ? [el("p", { class: "soft" }, "There is none.")] : longText(sample.answer))),
      titled("Reference answer", ...(sample.truth === undefined ? [el("p", { class: "soft" }, "There is none.")] : longText(sample.truth)))),
    scoresOf(sample),
    sample.claims ? titled("Claims of the reference answer, and their evidence", claimsOf(sample.claims, sample, name, 1)) : null,
    sample.said ? titled("Claims of the answer, and their evidence", claimsOf(sample.said, sample, name, 1 + (sample.claims ?? []).length)) : null,
    titled("Contexts", contextsOf(sample, name)),
    sufficiencyOf(sample));
}
