// The Gantt chart of a book: a row for each node or machine, the load below, and a line at the present.

import { layLanes, loadSteps, windowOf } from "./allocations.js";
import { element, find, swatch, ticksOf } from "./elements.js";
import { inWords, instant } from "./service.js";

const MAX_BARS = 600; // what is farther from now is left out, and said
const MAX_ROWS = 200;
const LEFT = 92; // pixels beside the rows, for their names
const TOP = 22;
const LOAD = 44; // pixels of the curve of the load
const FEW_ROWS = 40; // of more rows, only those are shown on which something is allocated
const TICK = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
const LEGEND = [["computation", "computation, one colour for each task"], ["transmission", "transmission"],
  ["reservation", "reservation"], ["share", "share of CPU, one colour for each request"]];

// Draw the allocations of a book; `view` is the part that is seen, and `chosen` a promise to point out.
export function drawBook(book, data, view, chosen) {
  const now = book.instant, { rows, bars } = data, wall = book.clock === "wall";
  const [from, until] = windowOf(bars, now, 0.75 * MAX_BARS, view);
  const inside = bars.filter((bar) => bar.end > from && bar.start < until);
  const middle = view.shift ? (from + until) / 2 : now, away = (bar) => Math.max(bar.start - middle, middle - bar.end, 0);
  const places = placesOf(rows, inside), count = places.size;
  const drawn = inside.filter((bar) => places.has(bar.row)).sort((a, b) => away(a) - away(b)).slice(0, MAX_BARS);
  const lanes = layLanes(drawn);
  const width = Math.max(320, find("gantt").clientWidth), right = width - 14;
  const deepest = Math.max(...[...places.keys()].map(lanes), 1);
  const height = Math.max(6, Math.min(8 + 18 * deepest, 640 / count)), bottom = TOP + count * height, base = bottom + LOAD + 10;
  const x = (time) => LEFT + ((Math.min(Math.max(time, from), until) - from) / (until - from)) * (right - LEFT);
  const clock = (time) => instant(time, wall);

  const parts = [];
  const line = (x1, y1, x2, y2, kind) => parts.push(element("line", { x1, y1, x2, y2, class: kind }));
  const text = (at, y, anchor, kind, words) => parts.push(element("text", { x: at, y, "text-anchor": anchor, class: kind }, words));
  for (const [row, place] of places) {
    const y = TOP + place * height, name = rows[row];
    if (place % 2) parts.push(element("rect", { x: LEFT, y, width: right - LEFT, height, class: "band" }));
    if (place % Math.ceil(13 / height)) continue; // names that would overlap
    text(LEFT - 8, y + height / 2 + 4, "end", "axis", name.length > 12 ? `${name.slice(0, 11)}…` : name);
  }
  for (const at of ticksOf(from, until, (right - LEFT) / (wall ? 130 : 90), wall)) {
    line(x(at), TOP, x(at), base + 4, "grid");
    text(x(at), base + 18, "middle", "axis", wall ? new Date(1000 * at).toLocaleString([], TICK) : clock(at));
  }
  for (const bar of drawn) {
    const size = height / lanes(bar.row), y = TOP + places.get(bar.row) * height + bar.lane * size, wide = x(bar.end) - x(bar.start);
    const { id, colour } = bar.promise, faded = chosen && chosen !== id ? "faded" : "";
    const face = element("rect", { x: x(bar.start), y: y + 1, width: Math.max(wide, 1), height: Math.max(size - 2, 1), rx: 2,
      class: `bar ${colour} ${bar.kind} ${size < 9 ? "thin" : ""} ${faded}`, "data-id": id }, element("title", {}, describe(bar, rows, clock)));
    parts.push(face);
    if (size >= 13 && wide > 7.5 * id.length + 8) text(x(bar.start) + 4, y + size / 2 + 4, "start", `name ${bar.kind} ${faded}`, id);
  }
  const y = (share) => base - LOAD * Math.min(share, 1);
  const steps = loadSteps(bars, data.capacity, from, until).map(([at, share]) => `H${x(at)}V${y(share)}`);
  parts.push(element("path", { d: `M${LEFT} ${base}${steps.join("")}H${right}V${base}Z`, class: "load" }));
  text(LEFT - 8, y(1) + 8, "end", "axis", "load 100 %");
  text(LEFT - 8, base, "end", "axis", "0 %");
  if (now >= from && now <= until) {
    line(x(now), TOP - 4, x(now), base, "now");
    text(Math.min(Math.max(x(now), LEFT), right - (wall ? 70 : 30)), 13, "middle", "now", `now ${clock(now)}`);
  }
  const label = `Gantt chart of book ${book.name} from ${clock(from)} to ${clock(until)}, now ${clock(now)}: ${drawn.length} allocations on`
    + ` ${count} rows. The table of promises says the same in words.`;
  find("gantt").replaceChildren(element("svg", { width, height: base + 24, role: "img", "aria-label": label }, ...parts));
  writeLegend(drawn);
  find("gantt-left-out").textContent = leftOut(bars, drawn, [from, until], clock)
    + (rows.length > count ? ` ${count} of ${rows.length} rows are shown.` : "");
}

// The rows that are shown, and the place of each.
function placesOf(rows, inside) {
  const used = new Set(inside.map((bar) => bar.row));
  const found = [...rows.keys()].filter((row) => rows.length <= FEW_ROWS || row === 0 || used.has(row));
  return new Map(found.slice(0, MAX_ROWS).map((row, place) => [row, place]));
}

function describe(bar, rows, clock) {
  const { kind, id, due } = bar.promise, amount = bar.kind === "share" ? `, ${inWords(bar.amount)} CPU` : "";
  const deadline = Number.isFinite(due) ? `\ndeadline ${clock(due)}` : "";
  return `${kind} ${id}\n${bar.kind} on ${rows[bar.row]}${amount}\n${clock(bar.start)} to ${clock(bar.end)}${deadline}`;
}

function writeLegend(drawn) {
  const kinds = new Set(drawn.map((bar) => bar.kind));
  const found = LEGEND.filter(([kind]) => kinds.has(kind)).map(([kind, words]) => [`c0 ${kind}`, words]);
  find("gantt-legend").replaceChildren(...found.map(([classes, words]) => element("li", {}, swatch(classes), words)));
}

function leftOut(bars, drawn, [from, until], clock) {
  if (!bars.length) return "Nothing is allocated.";
  if (drawn.length === bars.length) return "";
  const before = bars.filter((bar) => bar.end <= from).length, after = bars.filter((bar) => bar.start >= until).length;
  const hidden = bars.length - drawn.length - before - after, many = (number) => number.toLocaleString("en");
  const parts = [[before, `that ended before ${clock(from)}`], [after, `that start after ${clock(until)}`], [hidden, "farther from now, or on rows that are not shown"]];
  const words = parts.filter(([number]) => number).map(([number, text]) => `${many(number)} ${text}`);
  return `Drawn: ${many(drawn.length)} of ${many(bars.length)} allocations. Left out: ${words.join("; ")}.`;
}
