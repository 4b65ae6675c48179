// Elements of the page. Texts are set as texts, so that no answer of the service can become markup.

const SVG = new Set(["svg", "rect", "line", "path", "circle", "text", "title"]);
const LISTED = 50; // rows of a table at most

export const find = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const space = SVG.has(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

// Write the rows of a table; `id`-left-out says how many are left out. The focus stays where it is, so that the
// keyboard works on a page that changes.
export function fillTable(id, rows, empty) {
  const table = find(id), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const made = rows.slice(0, LISTED).map(({ cells, ...attributes }) =>
    element("tr", attributes, ...cells.map((cell, at) => element("td", { class: heads[at].className }, cell))));
  if (!made.length) made.push(element("tr", {}, element("td", { colspan: heads.length, class: "quiet" }, empty)));
  body.replaceChildren(...made);
  if (focused) body.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
  const more = rows.length - LISTED;
  find(`${id}-left-out`)?.replaceChildren(more > 0 ? `${more.toLocaleString("en")} more are not listed.` : "");
}

export function writeFacts(id, pairs) {
  find(id).replaceChildren(...Object.entries(pairs).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

export function swatch(classes) {
  const face = element("rect", { x: 1, y: 1, width: 16, height: 10, class: `bar ${classes}` });
  return element("svg", { width: 18, height: 12, "aria-hidden": "true" }, face);
}

// Round numbers between two ends; of the wall clock round times, in seconds.
export function ticksOf(from, until, count, wall = false) {
  const least = (until - from) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(least));
  const times = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400];
  const step = (wall && least > 1 && times.find((time) => time >= least)) || power * [1, 2, 5, 10].find((factor) => factor * power >= least);
  const zone = wall ? 60 * new Date(1000 * from).getTimezoneOffset() : 0, ticks = [];
  for (let at = Math.ceil((from - zone) / step); at * step + zone <= until && ticks.length < 50; at++) ticks.push(at * step + zone);
  return ticks;
}
