// Renders the OpenAPI document of the service; every text is set as text, never as HTML.

const answer = await fetch("openapi.json");
const api = await answer.json();
const schemas = api.components.schemas;

/** Return an element with attributes and children; texts become text nodes. */
function element(tag, attributes, ...children) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Return the name of what a schema refers to, or undefined. */
const nameOf = (schema) => schema.$ref?.split("/").pop();

/** Return a schema in words, with links to the records that it refers to. */
function type(schema) {
  const name = nameOf(schema);
  if (name) return [element("a", { href: `#${name}` }, name)];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.flatMap((choice, at) => (at ? [" or ", ...type(choice)] : type(choice)));
  if (schema.type === "array") {
    const items = schema.items ?? schema.prefixItems?.[0];
    return ["list of ", ...(items ? type(items) : ["values"])];
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(", ")];
  return [schema.type ?? "any value"];
}

/** Return a table of names, types and meanings. */
function table(rows) {
  const head = ["name", "type", "meaning"].map((text) => element("th", { scope: "col" }, text));
  const lines = rows.map(([name, schema, required, meaning]) =>
    element("tr", {}, element("td", {}, element("code", {}, name)),
      element("td", {}, ...type(schema)), element("td", {}, (required ? "Required. " : "") + (meaning ?? ""))));
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...lines));
}

/** Return a call of an operation for a shell. */
function example(path, method, operation) {
  const post = operation.requestBody ? " \\\n  -H 'Content-Type: application/json' -d @body.json" : "";
  return `curl -X ${method.toUpperCase()} '${location.origin}${path}'${post}`;
}

function describe(path, method, operation) {
  const body = operation.requestBody?.content["application/json"].schema;
  const rows = operation.parameters.map((p) => [`${p.name} (${p.in})`, p.schema, p.required, p.description]);
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const [media, content] = Object.entries(response.content)[0];
    return element("li", {}, `${status} ${response.description}: ${media}, `, ...type(content.schema));
  });
  const scopes = operation.security?.[1]?.token;
  return element("details", { id: operation.operationId },
    element("summary", {}, element("span", { className: "method" }, method.toUpperCase()), " ",
      element("code", {}, path), ` ${operation.summary}`),
    operation.description ? element("p", {}, operation.description) : null,
    scopes ? element("p", {}, `Scope of the token: ${scopes.join(", ")}`) : null,
    element("pre", {}, example(path, method, operation)),
    rows.length ? table(rows) : null,
    body ? element("p", {}, "Body: ", ...type(body)) : null,
    element("ul", {}, ...responses));
}

const main = document.getElementById("operations");
main.replaceChildren(element("p", {}, api.info.description));
for (const tag of api.tags) {
  main.append(element("h2", {}, tag.name), element("p", {}, tag.description));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.tags.includes(tag.name)) main.append(describe(path, method, operation));
    }
  }
}
main.append(element("h2", {}, "records"));
for (const [name, schema] of Object.entries(schemas)) {
  const rows = Object.entries(schema.properties ?? {}).map(([field, described]) =>
    [field, described, schema.required?.includes(field), described.description]);
  main.append(element("details", { id: name }, element("summary", {}, element("code", {}, name)),
    element("p", {}, schema.description ?? ""), table(rows)));
}

/** Open what the address names, such as the record behind a link. */
function open() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.tagName === "DETAILS") {
    named.open = true;
    named.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();
