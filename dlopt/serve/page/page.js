// The page of the service: it reads what any client reads, and shows books and jobs as they change.

import { allocationsOf, rankPromises } from "./allocations.js";
import { drawBook } from "./book_chart.js";
import { element, fillTable, find, swatch, writeFacts } from "./elements.js";
import { drawConvergence } from "./job_chart.js";
import { TOKEN, bookPath, eventsOf, instant, inWords, jobPath, number, percent, read, request } from "./service.js";

const REFRESH_MS = 1500; // between an answer of the service and the next question
const ENDED = new Set(["done", "failed", "cancelled", "interrupted"]); // states of a job
const CLOCK_MS = 10000; // after which the present is drawn in a new place, if the clock is that of the wall
const SHOWN_CHARACTERS = 4000; // of an answer that is shown as JSON; the link has all of it
const AMOUNTS = { task: "load", reservation: "nodes", request: "CPU" };

const view = { shift: 0, zoom: 1 }; // of the chart of a book, relative to what is near now
let shown = { key: "" }; // the book or job on the right, and what is known of it
let timer = 0;

// ---- Books

async function showBook(book) {
  const wall = book.clock === "wall", moment = wall ? Math.floor(Date.now() / CLOCK_MS) : 0;
  book.instant = wall ? Math.max(number(book.now), Date.now() / 1000) : number(book.now); // time passes without calls, too
  find("book-title").textContent = `Book ${book.name}`;
  if (shown.version !== book.version || shown.now !== book.now) {
    const [plan, state] = await Promise.all(["/plan", "/state"].map((part) => read(bookPath(book.name, part))));
    Object.assign(shown, { version: book.version, now: book.now, data: allocationsOf(plan.plan, state.state), drawn: false });
  }
  if (shown.drawn && shown.moment === moment) return;
  Object.assign(shown, { drawn: true, moment });
  const { data } = shown, { bars, promises, rejected, capacity } = data;
  rankPromises(promises, book.instant);
  drawBook(book, data, view, shown.chosen);
  const count = (state) => promises.filter((promise) => promise.state === state).length;
  const busy = bars.reduce((sum, bar) => sum + (bar.start <= book.instant && book.instant < bar.end ? bar.amount : 0), 0);
  writeFacts("book-facts", { algorithm: book.algorithm, [wall ? "now (wall clock)" : "now (clock of the caller)"]: instant(book.instant, wall),
    running: inWords(count("running")), waiting: inWords(count("waiting")), rejected: inWords(rejected), holds: inWords(book.holds), "load now": percent(busy / capacity || 0), version: book.version });
  const time = (at) => (Number.isFinite(at) ? instant(at, wall) : "–");
  fillTable("promises", promises.map((promise) => ({ cells: [element("span", {}, swatch(promise.colour), promise.id), promise.kind, promise.state,
    time(promise.from), time(promise.until), time(promise.due), `${AMOUNTS[promise.kind]} ${inWords(promise.amount)}`] })), "This book has no promises.");
}

// ---- Jobs

async function follow(id, following) {
  Object.assign(shown, { following, points: [] });
  try {
    for await (const { event, data } of eventsOf(id, following.signal)) {
      const progress = event === "progress" ? data : event === "ended" ? data.progress : null;
      if (progress) shown.points.push(progress);
      if (event === "progress" && shown.job) writeJob({ ...shown.job, progress });
      else refreshSoon(0);
    }
  } catch (error) {
    if (error.name !== "AbortError") report(error);
  }
  if (shown.following === following) shown.following = null; // the next refresh goes on, if the job has not ended
}

function writeJob(job) {
  const { value, bound, gap } = job.progress ?? {}, ended = ENDED.has(job.state);
  const elapsed = job.started_at ? Math.max(0, (job.ended_at ?? Date.now() / 1000) - job.started_at) : 0;
  writeFacts("job-facts", { kind: job.kind, method: job.method ?? "–", state: job.state, incumbent: inWords(value), bound: inWords(bound),
    gap: percent(gap), seconds: elapsed.toFixed(1) });
  find("job-title").textContent = `Job ${job.id}`;
  find("job-reason").textContent = job.state === "done" ? "" : job.reason ?? "";
  find("cancel").hidden = ended;
  const silent = job.kind !== "solve" ? "" : ended ? "The job reported no incumbent and no bound." : "No incumbent and no bound yet.";
  drawConvergence(job, shown.points ?? [], elapsed, silent);
}

async function showJob(job) {
  shown.job = job;
  if (!shown.following && !(ENDED.has(job.state) && shown.points)) follow(job.id, new AbortController());
  writeJob(job);
  if (!ENDED.has(job.state) || shown.results) return;
  const answer = await read(jobPath(job.id, "/result")).catch(() => []); // a job that failed has no result
  shown.results = answer.rows ?? [answer].flat();
  find("job-links").hidden = !shown.results.length;
  const readable = !shown.results.length || shown.results[0].method; // the answer of a check is no result of a method
  find("results").hidden = !shown.results.length || !readable;
  find("answer").hidden = readable;
  find("answer").textContent = readable ? "" : JSON.stringify(answer, null, 1).slice(0, SHOWN_CHARACTERS);
  find("result-link").href = jobPath(job.id, "/result");
  find("plot-link").href = jobPath(job.id, "/plot");
  find("plot-link").hidden = !shown.results[0]?.solution;
  fillTable("results", shown.results.map((row) => ({ cells: [row.method, row.status, row.objective, inWords(row.value), inWords(row.bound), percent(row.gap),
    row.proof ?? "–", row.reason ?? "–"] })), "");
}

// Links cannot send the token: what they lead to is fetched.
async function openLink(event) {
  event.preventDefault();
  const link = event.currentTarget, answer = await request(link.getAttribute("href")), address = URL.createObjectURL(await answer.blob());
  if (link.id === "result-link") element("a", { href: address, download: `${shown.job.id}.json` }).click();
  else find("picture").replaceChildren(element("img", { src: address, alt: `Gantt chart of the schedule of job ${shown.job.id}` }));
}

// ---- The page

function report(error) {
  find("error").textContent = error?.message ?? "";
  find("error").hidden = !error;
  const known = sessionStorage.getItem(TOKEN) ? "The service does not know this token." : "This service asks for a token.";
  if (error?.status === 401 && !find("token-dialog").open) askToken(known);
}

function askToken(reason) {
  find("token-reason").textContent = reason;
  find("token").value = "";
  find("token-dialog").showModal();
}

function showBegin() {
  const address = location.href.replace(/[^/]*$/, ""), token = sessionStorage.getItem(TOKEN) ? ' -H "Authorization: Bearer $TOKEN"' : "";
  const line = (method, path, body) => `curl -X ${method} ${address}${path}${token} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
  const cluster = { nodes: 3, tau: 1, chi: 2 };
  find("begin-book").textContent = [line("PUT", "v1/books/first", { problem: "admission", algorithm: "edf-iit-2", cluster }),
    line("POST", "v1/books/first/submit", { task: { id: "a", arrival: 0, load: 3, deadline: 12 } })].join("\n\n");
  find("begin-job").textContent = line("POST", "v1/jobs", { kind: "solve", method: "exact",
    instance: { problem: "iit", version: 1, name: "three-nodes", cluster, ready_times: [0, 1, 4], load: 3 } });
}

// What the address names, or else the first book, a running job, any job.
function chosen(books, jobs) {
  const [kind, name] = location.hash.slice(1).split("/").map(decodeURIComponent);
  if (kind === "books" && name) return { kind, name, item: books.find((book) => book.name === name) };
  if (kind === "jobs" && name) return { kind, name, item: jobs.find((job) => job.id === name) };
  if (books.length) return { kind: "books", name: books[0].name, item: books[0] };
  const job = jobs.find((one) => !ENDED.has(one.state)) ?? jobs[0];
  return job ? { kind: "jobs", name: job.id, item: job } : { kind: "begin" };
}

async function refresh() {
  const [{ books }, { jobs }] = await Promise.all([read("v1/books"), read("v1/jobs")]);
  const { kind, name, item } = chosen(books, jobs), key = `${kind}/${name}`;
  if (key !== shown.key) {
    shown.following?.abort();
    shown = { key };
    Object.assign(view, { shift: 0, zoom: 1 });
    find("picture").replaceChildren();
    find("results").hidden = find("answer").hidden = find("job-links").hidden = true;
  }
  const row = (path, words, ...cells) => ({ class: path === key ? "chosen" : "", cells: [element("a",
    { href: `#${path.split("/").map(encodeURIComponent).join("/")}`, title: path, ...(path === key && { "aria-current": "true" }) }, words), ...cells] });
  fillTable("books", books.map((book) => row(`books/${book.name}`, book.name, book.problem, inWords(book.promises),
    book.clock === "wall" ? "wall clock" : inWords(book.now))), "No book.");
  fillTable("jobs", jobs.map((job) => row(`jobs/${job.id}`, job.id.slice(0, 8), job.method ?? job.kind, job.state, percent(job.progress?.gap))), "No job.");
  const count = (state) => jobs.filter((job) => job.state === state).length;
  find("connection").textContent = `Connected. Books: ${books.length}. Jobs running: ${count("running")}, queued: ${count("queued")}.`;
  for (const part of ["begin", "book", "job"]) find(part).hidden = `${part}s` !== kind && part !== kind || (part !== "begin" && !item);
  report(kind === "begin" || item ? null : new Error(`There is no ${kind === "books" ? "book" : "job"} ${name}.`));
  if (kind === "begin") showBegin();
  else if (item) await (kind === "books" ? showBook(item) : showJob(item));
}

// Ask again after `delay`, and then the less often the longer the service takes to answer.
function refreshSoon(delay) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const begun = performance.now();
    try {
      if (!document.hidden) await refresh();
    } catch (error) {
      find("connection").textContent = "Not connected.";
      report(error);
    }
    refreshSoon(Math.max(REFRESH_MS, 3 * (performance.now() - begun)));
  }, delay);
}

function redraw() {
  shown.drawn = false;
  refreshSoon(0);
}

const moves = { earlier: () => (view.shift -= 0.5), later: () => (view.shift += 0.5), closer: () => (view.zoom /= 2), wider: () => (view.zoom *= 2),
  reset: () => Object.assign(view, { shift: 0, zoom: 1 }) };
for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => redraw(moves[button.dataset.view]()));
}
find("gantt").addEventListener("click", ({ target }) => { // a click on a bar points out all bars of its promise
  shown.chosen = shown.chosen === target.dataset.id ? null : target.dataset.id;
  redraw();
});
find("cancel").addEventListener("click", () => request(jobPath(shown.job.id), { method: "DELETE" }).then(() => refreshSoon(0), report));
for (const id of ["result-link", "plot-link"]) find(id).addEventListener("click", (event) => openLink(event).catch(report));
find("token-button").addEventListener("click", () => askToken("A service with a token file asks for a token."));
find("token-dialog").addEventListener("close", () => {
  if (find("token-dialog").returnValue === "use") sessionStorage.setItem(TOKEN, find("token").value.trim());
  refreshSoon(0);
});
document.querySelector(".skip").addEventListener("click", (event) => { // without a change of the address, which names what is shown
  event.preventDefault();
  find("detail").focus();
});
addEventListener("hashchange", () => refreshSoon(0));
addEventListener("resize", redraw);
document.addEventListener("visibilitychange", () => refreshSoon(0));
refreshSoon(0);
