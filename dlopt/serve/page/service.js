// What the page asks of the service, and the numbers of its answers.

export const TOKEN = "dlopt-token"; // the name under which the tab keeps the token

// Send a request; an answer that is an error becomes an Error with the words of the service.
export async function request(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(path, { cache: "no-store", ...options, headers }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error("The service does not answer. This page tries again every few seconds.");
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  const title = problem.title ?? `The service answered with status ${response.status}`;
  const error = new Error(problem.detail ? `${title}: ${problem.detail}` : title);
  throw Object.assign(error, { status: response.status });
}

export const read = async (path) => (await request(path)).json();
export const bookPath = (name, part = "") => `v1/books/${encodeURIComponent(name)}${part}`;
export const jobPath = (id, part = "") => `v1/jobs/${encodeURIComponent(id)}${part}`;

// EventSource cannot send the token, so the stream of events is read by fetch.
export async function* eventsOf(id, signal) {
  const headers = { Accept: "text/event-stream" };
  const body = (await request(jobPath(id, "/events"), { headers, signal })).body;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).replaceAll("\r\n", "\n").split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
      const event = /^event: ?(.*)$/m.exec(block);
      if (data.length) yield { event: event?.[1] ?? "message", data: JSON.parse(data.join("\n")) };
    }
  }
}

// A number of an answer is a JSON number, a text "p/q", a list of levels, or null.
export function number(value) {
  if (typeof value !== "string") return value ?? NaN;
  const [p, q = "1"] = value.split("/");
  const surplus = Math.max(0, Math.max(p.length, q.length) - 300); // digits beyond what a float holds
  return surplus ? Number(p.slice(0, -surplus)) / Number(q.slice(0, -surplus)) : Number(p) / Number(q);
}

export function inWords(value) {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  const found = number(value);
  if (Number.isNaN(found)) return String(value);
  return found.toLocaleString("en", { maximumSignificantDigits: 6 });
}

export const percent = (value) => (value === null || value === undefined ? "–"
  : Array.isArray(value) ? value.map(percent).join(", ") : `${(100 * number(value)).toFixed(2)} %`);
export const instant = (time, wall) => (wall && Number.isFinite(time)
  ? new Date(1000 * time).toLocaleString([], { dateStyle: "short", timeStyle: "medium" }) : inWords(time));

