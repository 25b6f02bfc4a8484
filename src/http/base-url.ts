import type { IncomingHttpHeaders } from "node:http";

/** Host names, addresses and ports; nothing that could break out of a URL. */
const HOST = /^[\w.-]+(:\d{1,5})?$|^\[[\da-fA-F:.]+\](:\d{1,5})?$/;

export interface BaseUrlParts {
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
}

/** Where the HTTP server has mounted Dragoman. */
export interface MountPoint {
  readonly scheme: "http" | "https";
  /** The path before all of our paths; empty: none. */
  readonly prefix: string;
}

/** The URL by which the caller reached the server: `publicUrl`, else the headers of a trusted proxy, else the Host header. */
export function createBaseUrl(
  parts: BaseUrlParts,
): (headers: IncomingHttpHeaders, mount: MountPoint) => string {
  const { publicUrl, trustProxy } = parts;
  if (publicUrl !== undefined) return () => publicUrl;
  return (headers, mount) => {
    const direct = headers.host && HOST.test(headers.host) ? headers.host : "localhost";
    const path = isPath(mount.prefix) ? mount.prefix : "";
    if (!trustProxy) return `${mount.scheme}://${direct}${path}`;
    const host = first(headers["x-forwarded-host"]);
    const proto = first(headers["x-forwarded-proto"]);
    const scheme = proto === "https" || proto === "http" ? proto : mount.scheme;
    const prefix = first(headers["x-forwarded-prefix"]) ?? "";
    return `${scheme}://${host && HOST.test(host) ? host : direct}${isPath(prefix) ? prefix : ""}${path}`;
  };
}

/** A plain path, without a slash at its end. */
export const isPath = (text: string): boolean => /^(\/[\w.~-]+)+$/.test(text);

/** Host and port of gRPC for the same caller; `ownPort`: gRPC does not share the HTTP port. undefined: not known. */
export function toGrpcAddress(
  base: string,
  ownPort: number | undefined,
  { publicUrl, trustProxy }: BaseUrlParts,
): string | undefined {
  const url = URL.parse(base);
  // A proxy that forwards HTTP/1 need not forward HTTP/2.
  if (!url || (ownPort === undefined && (publicUrl !== undefined || trustProxy))) return undefined;
  return `${url.hostname}:${ownPort ?? (url.port || (url.protocol === "https:" ? 443 : 80))}`;
}

/** Several proxies make a list; the first entry is the one nearest to the caller. */
function first(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text?.split(",")[0]?.trim();
}
