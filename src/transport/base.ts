import type { IncomingMessage } from "node:http";

/** Host names, addresses and ports; nothing that could break out of a URL. */
const HOST = /^[\w.-]+(:\d{1,5})?$|^\[[\da-fA-F:.]+\](:\d{1,5})?$/;

/** Under which address the caller reached us: said by the operator, or by a proxy that is trusted, or by the caller. */
export function createBase(parts: {
  publicUrl: string | undefined;
  trustProxy: boolean;
}): (request: IncomingMessage) => string {
  const { publicUrl, trustProxy } = parts;
  if (publicUrl !== undefined) return () => publicUrl;
  return request => {
    const { headers } = request;
    const direct = headers.host && HOST.test(headers.host) ? headers.host : "localhost";
    if (!trustProxy) return `http://${direct}`;
    const host = first(headers["x-forwarded-host"]);
    const scheme = first(headers["x-forwarded-proto"]) === "https" ? "https" : "http";
    const prefix = first(headers["x-forwarded-prefix"]) ?? "";
    const path = /^(\/[\w.~-]+)+$/.test(prefix) ? prefix : "";
    return `${scheme}://${host && HOST.test(host) ? host : direct}${path}`;
  };
}

/** Several proxies make a list; the first entry is the one nearest to the caller. */
function first(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text?.split(",")[0]?.trim();
}
