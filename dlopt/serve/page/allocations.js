// What a book has allocated: bars on rows, from when until when, and the promises that they belong to.

import { number } from "./service.js";

const COLOURS = 10; // classes c0, c1, ... of the style sheet

// Return rows, bars, promises, capacity and the number of rejections of a plan. The state knows what is still alive:
// deadlines, windows and capacities.
export function allocationsOf(plan, state) {
  const { cluster, machines, tasks = [], reservations = [], requests = [] } = state?.instance ?? {};
  const due = new Map(tasks.map((task) => [task.id, number(task.arrival) + number(task.deadline)]));
  const windows = new Map([...reservations, ...requests].map((one) => [one.id, [number(one.start), number(one.end)]]));
  const decisions = [...plan.decisions, ...(plan.grants ?? [])];
  const promises = new Map(), bars = [];
  for (const decision of decisions.filter((one) => one.accepted)) {
    const kind = ["task", "reservation", "request"].find((name) => name in decision), id = decision[kind];
    promises.set(id, { id, kind, colour: `c${promises.size % COLOURS}`, due: due.get(id), bars: [], amount: 0 });
  }
  const add = (id, row, kind, [start, end] = [], amount = 1) => {
    const promise = promises.get(id);
    if (!promise || !(end > start)) return;
    bars.push({ promise, row, kind, start, end, amount });
    promise.bars.push(bars.at(-1));
  };
  const count = (id, amount) => promises.has(id) && (promises.get(id).amount += number(amount));
  for (const chunk of plan.chunks ?? []) {
    const sent = [number(chunk.transmission_start), number(chunk.transmission_end)];
    add(chunk.task, 0, "transmission", sent, 0); // the first row is the channel
    add(chunk.task, chunk.node + 1, "transmission", sent);
    add(chunk.task, chunk.node + 1, "computation", [number(chunk.computation_start), number(chunk.computation_end)]);
    count(chunk.task, chunk.load);
  }
  for (const { reservation, nodes } of plan.grants ?? []) {
    for (const node of nodes ?? []) add(reservation, node + 1, "reservation", windows.get(reservation));
    count(reservation, nodes?.length ?? 0);
  }
  for (const { request, machine, cpu } of plan.shares ?? []) {
    add(request, machine, "share", windows.get(request), number(cpu));
    count(request, cpu);
  }
  const rows = rowsOf(plan, machines, cluster, bars);
  const capacity = machines ? machines.reduce((sum, machine) => sum + largest(machine.capacity), 0) : rows.length - 1;
  const found = [...promises.values()];
  return { rows, bars, promises: found, capacity, rejected: decisions.length - found.length };
}

function rowsOf(plan, machines, cluster, bars) {
  const last = bars.reduce((most, bar) => Math.max(most, bar.row), 0);
  const shares = machines || plan.shares;
  const rows = shares ? (machines ?? []).map((machine) => machine.id) : ["channel"];
  const wanted = Math.max(last + 1, shares ? 0 : 1 + (cluster?.nodes ?? 0));
  while (rows.length < wanted) rows.push(shares ? `machine ${rows.length}` : `node ${rows.length - 1}`);
  return rows;
}

const largest = (capacity) => (Array.isArray(capacity) ? Math.max(...capacity.map(([, value]) => number(value))) : number(capacity));

// Write into each promise when it begins and ends, and whether it runs at `now`; order them by that.
export function rankPromises(promises, now) {
  const order = ["running", "waiting", "ended", "promised"];
  for (const promise of promises) {
    promise.from = Math.min(...promise.bars.map((bar) => bar.start));
    promise.until = Math.max(...promise.bars.map((bar) => bar.end));
    promise.state = !promise.bars.length ? "promised" : promise.until <= now ? "ended" : promise.from <= now ? "running" : "waiting";
  }
  return promises.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || a.from - b.from || 0);
}

// The window around now in which at most about `most` bars lie, moved and scaled by `view`.
export function windowOf(bars, now, most, view) {
  const present = bars.filter((bar) => bar.end > now).sort((a, b) => a.start - b.start);
  const first = bars.reduce((least, bar) => Math.min(least, bar.start), now);
  const ends = present.reduce((last, bar) => Math.max(last, bar.end), now);
  const span = (present.length > most ? Math.max(present[most].start, now) : ends) - now;
  const before = Math.min(now - first, span ? 0.15 * span : Infinity);
  const width = ((span + before) * 1.04 || 1) * view.zoom;
  const from = now - before * view.zoom + view.shift * width;
  return [from, from + width];
}

// Give the bars of a row that overlap different lanes; return the number of lanes of each row.
export function layLanes(bars) {
  const ends = new Map();
  for (const bar of [...bars].sort((a, b) => a.start - b.start)) {
    const row = ends.get(bar.row) ?? ends.set(bar.row, []).get(bar.row);
    const free = row.findIndex((end) => end <= bar.start + 1e-9 * Math.abs(bar.start));
    bar.lane = free < 0 ? row.length : free;
    row[bar.lane] = bar.end;
  }
  return (row) => Math.max(1, ends.get(row)?.length ?? 1);
}

// The share of the capacity that is allocated in a window: pairs of an instant and the share from then on.
export function loadSteps(bars, capacity, from, until) {
  const changes = new Map([[from, 0]]);
  for (const bar of bars) {
    if (bar.end <= from || bar.start >= until) continue;
    const start = Math.max(bar.start, from);
    changes.set(start, (changes.get(start) ?? 0) + bar.amount);
    changes.set(bar.end, (changes.get(bar.end) ?? 0) - bar.amount);
  }
  let level = 0;
  const steps = [...changes].sort((a, b) => a[0] - b[0]).map(([at, change]) => [at, (level += change) / (capacity || 1)]);
  return steps.filter(([at]) => at < until);
}
