import type { EndpointResponse } from "../ports/index.ts";

/** The pages contain no foreign text, load nothing and send no referrer. */
const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** A page for a browser: one heading and one sentence. */
export function page(
  status: number,
  title: string,
  sentence: string,
  headers: Readonly<Record<string, string>> = {},
): EndpointResponse {
  const text = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem; color-scheme: light dark }</style>
<h1>${title}</h1>
<p>${sentence}</p>
</html>
`;
  return { status, headers: { ...HEADERS, ...headers }, text };
}
