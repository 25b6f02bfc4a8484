import { useEffect, useState } from "preact/hooks";
import type { JsonObject } from "../../src/lib/json.ts";
import { me } from "../lib/admin.ts";
import { getJson, reasonOf, urlOf } from "../lib/api.ts";
import { plural } from "../lib/format.ts";
import { Bones, Button, copy, Note } from "../parts/basics.tsx";
import { Json } from "../parts/json.tsx";

/** The API reference: what openapi.json describes. */
export interface Spec {
  readonly id: string;
  readonly title: string;
  readonly path: string;
}
export const SPECS: readonly Spec[] = [
  { id: "api", title: "Agent calls", path: "openapi.json" },
  { id: "admin-api", title: "Admin API", path: "admin/v1/openapi.json" },
];

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonObject;
  readonly example?: unknown;
}
type Content = Readonly<Record<string, { readonly schema?: JsonObject; readonly example?: unknown }>>;
interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<
    Record<string, { readonly description?: string; readonly content?: Content }>
  >;
}
interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonObject>> };
  readonly servers?: readonly { readonly url: string }[];
}

const VERBS = ["get", "post", "put", "patch", "delete"];

interface Route {
  readonly verb: string;
  readonly path: string;
  readonly operation: Operation;
}

const routesOf = (api: OpenApi): readonly Route[] =>
  Object.entries(api.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([verb]) => VERBS.includes(verb))
      .map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  );

const matches = ({ verb, path, operation }: Route, words: readonly string[]): boolean => {
  const text = `${verb} ${path} ${operation.summary ?? ""} ${operation.description ?? ""}`.toLowerCase();
  return words.every(word => text.includes(word));
};

const nameOf = (ref: string): string => ref.split("/").pop() ?? ref;

/** A schema in one line: `string`, `Task[]`, `A or B`. */
function typeOf(schema: JsonObject | undefined): string {
  if (!schema) return "";
  if (typeof schema.$ref === "string") return nameOf(schema.$ref);
  const any = (schema.anyOf ?? schema.oneOf) as readonly JsonObject[] | undefined;
  if (Array.isArray(any)) return any.map(typeOf).join(" or ");
  if (schema.type === "array") return `${typeOf(schema.items as JsonObject)}[]`;
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(", ");
  return Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.type ?? "any");
}

function curlOf({ verb, path, operation }: Route): string {
  const content = operation.requestBody?.content["application/json"];
  const lines = [
    `curl ${verb === "GET" ? "" : `-X ${verb} `}'${urlOf(path).href.replaceAll("%7B", "{").replaceAll("%7D", "}")}'`,
  ];
  const version = operation.parameters?.find(one => one.name === "A2A-Version");
  if (version?.example) lines.push(`-H 'A2A-Version: ${String(version.example)}'`);
  if (me.value?.needsToken) lines.push(`-H 'Authorization: Bearer '"$TOKEN"`);
  if (content) lines.push("-H 'Content-Type: application/json'");
  if (content?.example !== undefined)
    lines.push(`-d '${JSON.stringify(content.example).replaceAll("'", "'\\''")}'`);
  return lines.join(" \\\n  ");
}

export function Reference({ spec, find }: { readonly spec: Spec; readonly find: string }) {
  const [api, setApi] = useState<OpenApi>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    getJson<OpenApi>(spec.path).then(setApi, error => setProblem(reasonOf(error)));
  }, [spec.path]);
  if (problem) return <Note>{problem}</Note>;
  if (!api) return <Bones rows={9} />;
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const routes = routesOf(api).filter(route => matches(route, words));
  const tags = api.tags?.length ? api.tags : [{ name: "" }];
  const schemas = Object.entries(api.components?.schemas ?? {}).filter(([name]) =>
    words.every(word => name.toLowerCase().includes(word)),
  );
  return (
    <article class="reference">
      <header class="page-head">
        <h1>{spec.title}</h1>
        <span class="lead">{plural(routes.length, "route")}, OpenAPI 3.1</span>
        <span class="grow" />
        <a class="btn" href={urlOf(spec.path).href} target="_blank" rel="noopener">
          openapi.json
        </a>
      </header>
      {tags.map(tag => {
        const own = routes.filter(({ operation }) => tag.name === "" || operation.tags?.includes(tag.name));
        return (
          own.length > 0 && (
            <section key={tag.name} class="card ref-tag" aria-label={tag.description ?? tag.name}>
              <div class="card-head">
                <h2>{tag.description ?? (tag.name || "Routes")}</h2>
                <span class="count">{own.length}</span>
              </div>
              {own.map(route => (
                <RouteView key={`${route.verb}${route.path}`} route={route} />
              ))}
            </section>
          )
        );
      })}
      {schemas.length > 0 && (
        <section class="card ref-tag" aria-label="Schemas">
          <div class="card-head">
            <h2>Schemas</h2>
            <span class="count">{schemas.length}</span>
          </div>
          {schemas.map(([name, schema]) => (
            <details key={name} class="ref-route">
              <summary>
                <code>{name}</code>
              </summary>
              <Json value={schema} open={4} />
            </details>
          ))}
        </section>
      )}
    </article>
  );
}

/** Bodies are drawn when they are opened: there are more than a hundred routes. */
function RouteView({ route }: { readonly route: Route }) {
  const [isOpen, setOpen] = useState(false);
  const { verb, path, operation } = route;
  return (
    <details class="ref-route" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <span class={`verb verb-${verb.toLowerCase()}`}>{verb}</span>
        <code>{path}</code>
        <span class="muted cut">{operation.summary}</span>
      </summary>
      {isOpen && <RouteBody route={route} />}
    </details>
  );
}

function RouteBody({ route }: { readonly route: Route }) {
  const { operation } = route;
  const curl = curlOf(route);
  return (
    <div class="ref-body">
      {operation.description && <p class="muted">{operation.description}</p>}
      {(operation.parameters?.length ?? 0) > 0 && (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Parameter</th>
              <th scope="col">In</th>
              <th scope="col">Type</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {operation.parameters?.map(one => (
              <tr key={one.in + one.name}>
                <td class="mono">
                  {one.name}
                  {one.required && <span class="tag">required</span>}
                </td>
                <td class="muted">{one.in}</td>
                <td class="mono">{typeOf(one.schema)}</td>
                <td class="muted ref-text">{one.description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {operation.requestBody && (
        <p>
          Body:{" "}
          <code>
            {Object.entries(operation.requestBody.content)
              .map(([type, { schema }]) => `${type}, ${typeOf(schema)}`)
              .join("; ")}
          </code>
        </p>
      )}
      {operation.responses && (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Meaning</th>
              <th scope="col">Body</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(operation.responses).map(([status, one]) => (
              <tr key={status}>
                <td class="mono">{status}</td>
                <td class="muted ref-text">{one.description}</td>
                <td class="mono ref-text">
                  {Object.entries(one.content ?? {})
                    .map(([type, { schema }]) => `${type}: ${typeOf(schema)}`)
                    .join("; ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div class="code-bar">
        <span class="grow">curl</span>
        <Button small kind="ghost" icon="copy" label="Copy" onClick={() => copy(curl, "Copied as curl")} />
      </div>
      <pre class="code is-round" tabIndex={0}>
        {curl}
      </pre>
    </div>
  );
}
