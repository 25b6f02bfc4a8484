import type { IncomingHttpHeaders } from "node:http";

/** Host names, addresses and ports; nothing that could break out of a URL. */
const HOST = /^[\w.-]+(:\d{1,5})?$|^\[[\da-fA-F:.]+\](:\d{1,5})?$/;

export interface AddressParts {
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
}

/** Where the server that takes the requests has us. */
export interface Site {
  readonly scheme: "http" | "https";
  /** The path below which we are; empty: all of it is ours. */
  readonly prefix: string;
}

/** Under which address the caller reached us: said by the operator, or by a proxy that is trusted, or by the caller. */
export function createBase(parts: AddressParts): (headers: IncomingHttpHeaders, site: Site) => string {
  const { publicUrl, trustProxy } = parts;
  if (publicUrl !== undefined) return () => publicUrl;
  return (headers, site) => {
    const direct = headers.host && HOST.test(headers.host) ? headers.host : "localhost";
    const below = isPath(site.prefix) ? site.prefix : "";
    if (!trustProxy) return `${site.scheme}://${direct}${below}`;
    const host = first(headers["x-forwarded-host"]);
    const said = first(headers["x-forwarded-proto"]);
    const scheme = said === "https" || said === "http" ? said : site.scheme;
    const prefix = first(headers["x-forwarded-prefix"]) ?? "";
    const path = isPath(prefix) ? prefix : "";
    return `${scheme}://${host && HOST.test(host) ? host : direct}${path}${below}`;
  };
}

/** A plain path, without a slash at its end. */
export const isPath = (text: string): boolean => /^(\/[\w.~-]+)+$/.test(text);

/** Host and port where the same caller can speak gRPC; `own`: it has a port of its own. undefined: that cannot be said. */
export function toGrpcAddress(
  base: string,
  own: number | undefined,
  parts: Pick<AddressParts, "publicUrl" | "trustProxy">,
): string | undefined {
  const url = URL.parse(base);
  // A proxy that passes HTTP/1 need not pass HTTP/2.
  if (!url || (own === undefined && (parts.publicUrl !== undefined || parts.trustProxy))) return undefined;
  return `${url.hostname}:${own ?? (url.port || (url.protocol === "https:" ? 443 : 80))}`;
}

/** Several proxies make a list; the first entry is the one nearest to the caller. */
function first(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text?.split(",")[0]?.trim();
}
