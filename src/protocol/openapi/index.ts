import { createHash } from "node:crypto";
import type { Endpoint } from "../../ports/index.ts";
import { createOpenApi, type OpenApiParts } from "./document.ts";

export interface OpenApiEndpointParts extends Omit<OpenApiParts, "version"> {
  readonly readVersion: () => string;
  /** The HTML page that shows the document. */
  readonly readPage: () => string;
}

/** `/openapi.json` and `/docs`; both are created for the first request. */
export function createOpenApiEndpoints(parts: OpenApiEndpointParts): readonly Endpoint[] {
  const openApi = once(() => createOpenApi({ ...parts, version: parts.readVersion() }));
  const page = once(() => {
    const text = parts.readPage();
    const headers = { ...NOSNIFF, "Content-Type": HTML, "Content-Security-Policy": policyOf(text) };
    return { text, headers };
  });
  return [
    {
      verb: "GET",
      path: "/openapi.json",
      serve: ({ base }) => ({
        status: 200,
        text: JSON.stringify({ ...openApi(), servers: [{ url: base() }] }),
        headers: NOSNIFF,
        cacheable: true,
      }),
    },
    { verb: "GET", path: "/docs", serve: () => ({ status: 200, ...page(), cacheable: true }) },
  ];
}

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
