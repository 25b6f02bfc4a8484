import { createHash } from "node:crypto";
import { createOpenApi, type OpenApiParts } from "./document.ts";

export interface OwnParts extends Pick<OpenApiParts, "dialects"> {
  readonly readVersion: () => string;
  /** The page that shows the document to people, as it lies in its file. */
  readonly readPage: () => string;
}

/** A document of the server itself: no dialect has a part in it. */
interface OwnDocument {
  readonly path: string;
  /** `base`: under which address the caller reached us. */
  write(base: string): { readonly text: string; readonly headers: Readonly<Record<string, string>> };
}

/** What tells programs and people which calls are answered here. Made when it is first asked for. */
export function createOwnDocuments(parts: OwnParts): readonly OwnDocument[] {
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
      path: "/openapi.json",
      write: base => ({
        text: JSON.stringify({ ...openApi(), servers: [{ url: base }] }),
        headers: NO_GUESSING,
      }),
    },
    { path: "/docs", write: page },
  ];
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const NO_GUESSING = { "X-Content-Type-Options": "nosniff" };
const HTML = "text/html; charset=utf-8";

/** Nothing but what stands in the page itself, and calls to this server. */
function policyOf(page: string): string {
  const hashes = (element: string): string =>
    [...page.matchAll(new RegExp(`<${element}>([\\s\\S]*?)</${element}>`, "g"))]
      .map(
        ([, inner]) =>
          `'sha256-${createHash("sha256")
            .update(inner as string)
            .digest("base64")}'`,
      )
      .join(" ");
  return [
    "default-src 'none'",
    `script-src ${hashes("script")}`,
    `style-src ${hashes("style")}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
