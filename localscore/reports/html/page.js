"use strict";

/* What the other scripts share. Texts reach the page as text nodes only: nothing here reads HTML. */

const data = JSON.parse(document.getElementById("data").textContent);

/** Make an element; properties are attributes, or listeners where their names begin with "on". */
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const count = (n) => n.toLocaleString("en");
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
const number = (x, decimals = 2) =>
  x === null || x === undefined ? "–" : x.toFixed(decimals).replace("-", "−");
const signed = (x) =>
  x === null || x === undefined ? "–" : Math.abs(x) < 0.005 ? "0.00" : (x > 0 ? "+" : "") + number(x);
const words = (name) => name.replaceAll("_", " ");
const slug = (name) => name.replaceAll(" ", "-");

/** A text that was judged: its own direction, its own lines, and nothing of it leaks out. */
const judged = (text, tag = "p") => el(tag, { dir: "auto", class: "text" }, text);
const inline = (text) => el("bdi", {}, text);
const dot = (name) => el("span", { class: `dot ${name}` });

const address = (id) => "#" + encodeURIComponent(id.toWellFormed ? id.toWellFormed() : id);
