// The chart of a job: the values of incumbents and the bound against the seconds since it began.

import { element, find, ticksOf } from "./elements.js";
import { inWords, number } from "./service.js";

const LEFT = 92;
const LABELS = 170; // pixels beside the curves, for their names
const HEIGHT = 290;

// Draw what a job has reported within some seconds: points with seconds, value and bound.
export function drawConvergence(job, points, elapsed, waiting) {
  const level = levelOf(points);
  const curves = ["value", "bound"].map((name) => [name,
    points.map((point) => [point.seconds, level(point[name])]).filter(([, height]) => Number.isFinite(height))]);
  const heights = curves.flatMap(([, curve]) => curve.map(([, height]) => height));
  if (!heights.length) {
    find("convergence").replaceChildren(element("p", { class: "quiet" }, waiting));
    return;
  }
  const least = Math.min(...heights), most = Math.max(...heights), margin = 0.08 * (most - least || Math.abs(most) || 1);
  const [low, high] = [least - margin, most + margin], longest = Math.max(elapsed, ...points.map((point) => point.seconds), 1e-3);
  const width = Math.max(360, find("convergence").clientWidth), right = width - LABELS, bottom = HEIGHT - 44;
  const x = (seconds) => LEFT + (seconds / longest) * (right - LEFT), y = (height) => 10 + ((high - height) / (high - low)) * (bottom - 10);

  const parts = [];
  const line = (x1, y1, x2, y2, kind) => parts.push(element("line", { x1, y1, x2, y2, class: kind }));
  const text = (at, height, anchor, kind, words) => parts.push(element("text", { x: at, y: height, "text-anchor": anchor, class: kind }, words));
  for (const at of ticksOf(low, high, 7)) {
    line(LEFT, y(at), right, y(at), "grid");
    text(LEFT - 8, y(at) + 4, "end", "axis", inWords(at));
  }
  for (const at of ticksOf(0, longest, (right - LEFT) / 90)) {
    line(x(at), bottom, x(at), bottom + 5, "grid");
    text(x(at), bottom + 19, "middle", "axis", inWords(at));
  }
  line(LEFT, bottom, right, bottom, "grid");
  text((LEFT + right) / 2, HEIGHT - 4, "middle", "axis", "seconds");
  const ends = [];
  for (const [name, curve] of curves.filter(([, curve]) => curve.length)) {
    const path = curve.map(([at, height], step) => `${step ? `H${x(at)}V` : `M${x(at)} `}${y(height)}`).join("");
    parts.push(element("path", { d: `${path}H${right}`, class: `line ${name}` }));
    for (const [at, height] of curve) parts.push(element("circle", { cx: x(at), cy: y(height), r: 2.5, class: name }));
    ends.push({ name, at: y(curve.at(-1)[1]), words: `${name === "value" ? "incumbent" : "bound"} ${inWords(curve.at(-1)[1])}` });
  }
  ends.sort((a, b) => a.at - b.at);
  if (ends.length > 1) ends[1].at = Math.max(ends[1].at, ends[0].at + 15); // two names do not overlap
  for (const { name, at, words } of ends) text(right + 8, at + 4, "start", name, words);
  const label = `Job ${job.id} after ${inWords(longest)} seconds: ${ends.map(({ words }) => words).join(", ")}.`;
  find("convergence").replaceChildren(element("svg", { width, height: HEIGHT, role: "img", "aria-label": label }, ...parts));
}

// Of values with several levels, the first level on which value and bound differ is drawn.
function levelOf(points) {
  const last = points.findLast(({ value, bound }) => Array.isArray(value) && Array.isArray(bound));
  const differs = last?.value.findIndex((value, at) => number(value) !== number(last.bound[at])) ?? 0;
  return (value) => number(Array.isArray(value) ? value[Math.max(differs, 0)] : value);
}
