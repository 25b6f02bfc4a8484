import { createHash } from "node:crypto";
import type { JsonObject } from "../../lib/json.ts";
import type { Agent, Endpoint } from "../../ports/index.ts";
import { toAgentComponents, withInputs } from "./agent-schemas.ts";
import { createOpenApi, type OpenApiParts } from "./document.ts";
import type { Properties } from "./json-schema.ts";

export interface OpenApiEndpointParts extends Omit<OpenApiParts, "version"> {
  readonly readVersion: () => string;
  /** The agents whose schemas everyone may see. */
  readonly agents: () => readonly Agent[];
  /** The HTML page that shows the document; undefined: the console shows it. */
  readonly readPage: (() => string) | undefined;
}

/** `/openapi.json` and `/docs`; both are created for the first request. */
export function createOpenApiEndpoints(parts: OpenApiEndpointParts): readonly Endpoint[] {
  const openApi = once(() => createOpenApi({ ...parts, version: parts.readVersion() }));
  return [
    {
      verb: "GET",
      path: "/openapi.json",
      serve: ({ base }) => ({
        status: 200,
        text: JSON.stringify({
          ...openApi(),
          components: { schemas: withInputs(schemasIn(openApi()), toAgentComponents(parts.agents())) },
          servers: [{ url: base() }],
        }),
        headers: NOSNIFF,
        cacheable: true,
      }),
    },
    { verb: "GET", path: "/docs", serve: parts.readPage ? servePage(parts.readPage) : serveRedirect },
  ];
}

const schemasIn = (document: JsonObject): Properties =>
  (document.components as JsonObject).schemas as Properties;

function servePage(readPage: () => string): Endpoint["serve"] {
  const page = once(() => {
    const text = readPage();
    const headers = { ...NOSNIFF, "Content-Type": HTML, "Content-Security-Policy": policyOf(text) };
    return { text, headers };
  });
  return () => ({ status: 200, ...page(), cacheable: true });
}

/** A relative URL: it works below any path, behind any proxy. */
const serveRedirect: Endpoint["serve"] = ({ target }) => {
  const isBelow = target?.().url.split("?", 1)[0]?.endsWith("/") ?? false;
  return { status: 302, headers: { Location: `${isBelow ? "../" : ""}console/docs` }, text: "{}" };
};

function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => (created ??= { value: create() }).value;
}

const NOSNIFF = { "X-Content-Type-Options": "nosniff" };
const HTML = "text/html; charset=utf-8";

/** Allows the inline script and style of the page, and requests to this server. */
const policyOf = (page: string): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf("script", page)}`,
    `style-src ${hashOf("style", page)}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

function hashOf(element: string, page: string): string {
  const content = new RegExp(`<${element}>([\\s\\S]*)</${element}>`).exec(page)?.[1] ?? "";
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
