import { createHash } from "node:crypto";
import type { Endpoint } from "../../ports/index.ts";
import { createOpenApi, type OpenApiParts } from "./document.ts";

export interface OwnParts extends Pick<OpenApiParts, "dialects"> {
  readonly readVersion: () => string;
  /** The page that shows the document to people, as it lies in its file. */
  readonly readPage: () => string;
}

/** What tells programs and people which calls are answered here. Made when it is first asked for. */
export function createOwnDocuments(parts: OwnParts): readonly Endpoint[] {
  const openApi = once(() => createOpenApi({ ...parts, version: parts.readVersion() }));
  const page = once(() => {
    const text = parts.readPage();
    return {
      text,
      headers: { ...NO_GUESSING, "Content-Type": HTML, "Content-Security-Policy": policyOf(text) },
    };
  });
  return [
    {
      verb: "GET",
      path: "/openapi.json",
      serve: ({ base }) => ({
        status: 200,
        text: JSON.stringify({ ...openApi(), servers: [{ url: base() }] }),
        headers: NO_GUESSING,
        cacheable: true,
      }),
    },
    { verb: "GET", path: "/docs", serve: () => ({ status: 200, ...page(), cacheable: true }) },
  ];
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const NO_GUESSING = { "X-Content-Type-Options": "nosniff" };
const HTML = "text/html; charset=utf-8";

/** Nothing but what stands in the page itself, and calls to this server. */
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
  const inner = new RegExp(`<${element}>([\\s\\S]*)</${element}>`).exec(page)?.[1] ?? "";
  return `'sha256-${createHash("sha256").update(inner).digest("base64")}'`;
}
