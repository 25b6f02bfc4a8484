/** Protection against DNS rebinding and cross-site requests, where no authentication or client certificates are used. */
import type { IncomingHttpHeaders } from "node:http";
import type { CorsRules } from "../model/index.ts";
import { createOriginTest } from "./cors.ts";

export interface HostCheckParts {
  readonly auth: readonly string[];
  /** The address at which the server listens. */
  readonly host: string;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly cors: readonly string[] | undefined;
  readonly corsRules: CorsRules | undefined;
  readonly trustProxy: boolean;
}

/** Why a request is refused; undefined: it is not. */
export type HostCheck = (headers: IncomingHttpHeaders, method: string | undefined) => string | undefined;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether the address can be reached from this machine only. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Any page can make a browser call this server: under a host name that the page's owner points to this machine (then the Host
 * header has that name), or directly (then the Origin header has the page's origin). Tokens and keys protect from that, because
 * a page does not know them; but browsers send client certificates by themselves. Programs that are not browsers send no
 * Origin. undefined: there is nothing to check.
 */
export function createHostCheck(parts: HostCheckParts): HostCheck | undefined {
  const { auth, publicUrl } = parts;
  const isAllowed = createOriginTest(parts);
  if (!auth.includes("none") && !auth.includes("mtls")) return undefined;
  const checkName = createNameCheck(parts);
  const ownOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return (headers, method) => {
    const problem = checkName?.(headers.host);
    const { origin } = headers;
    if (problem !== undefined || origin === undefined || SAFE_METHODS.has(method ?? "")) return problem;
    const forwarded = parts.trustProxy ? headers["x-forwarded-host"] : undefined;
    const host = String(forwarded ?? headers.host).toLowerCase();
    if (origin === ownOrigin || URL.parse(origin)?.host === host) return undefined;
    if (isAllowed(origin)) return undefined;
    return `Pages of ${quote(origin)} may not call this server; to allow them, start it with --cors`;
  };
}

/** undefined: not checked. Behind a proxy the Host is the proxy's; other machines may have any name for this one. */
function createNameCheck(
  parts: HostCheckParts,
): ((host: string | undefined) => string | undefined) | undefined {
  const { auth, host, publicUrl, allowedHosts = [] } = parts;
  if (!auth.includes("none") || !isLoopback(host) || parts.trustProxy) return undefined;
  const own = ["localhost", "127.0.0.1", "[::1]", host, `[${host}]`, ...allowedHosts];
  const names = [...own, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])];
  const known = new Set(names.map(name => name.toLowerCase()));
  return called => {
    if (called === undefined || known.has(called.toLowerCase().replace(/:\d+$/, ""))) return undefined;
    return `The host ${quote(called)} is not allowed; to allow it, start the server with --allowed-hosts`;
  };
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 100));

export interface OwnBaseUrlParts {
  /** The host name or address of the option `host`; undefined: another program listens. */
  readonly host: string | undefined;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly trustProxy: boolean;
  /** Where the server listens; undefined: it does not, or does not yet. */
  readonly listening: () => { readonly address: string; readonly port: number } | undefined;
  /** The path at which another program has mounted this server. */
  readonly path?: string | undefined;
}

const BASE_URL = /^https?:\/\/([^/]+)(\/.*)?$/;

/**
 * Whether the operator has confirmed that a base URL leads to this server: `publicUrl`; an allowed host, at our port or at
 * the default one; an address at which the server listens, at our port. The Host header is the caller's choice, so every
 * other base may lead anywhere. Texts are compared as they are: 127.1, a dot at the end or a port written 02024 is no match.
 */
export function createOwnBaseUrlCheck(parts: OwnBaseUrlParts): (base: string) => boolean {
  const { publicUrl, allowedHosts = [], trustProxy, path = "" } = parts;
  if (publicUrl !== undefined) return base => base === publicUrl;
  const allowed = new Set(allowedHosts.map(name => name.toLowerCase()));
  // A prefix comes from a header of a proxy, or from the router of the program that mounted the server.
  const isPathFixed = trustProxy || parts.host !== undefined;
  return base => {
    const [, authority = "", prefix = ""] = BASE_URL.exec(base) ?? [];
    if (isPathFixed && prefix !== path) return false;
    const called = authority.toLowerCase();
    if (allowed.has(called)) return true;
    const at = parts.listening();
    if (!at) return false;
    const isDefaultPort = at.port === (base.startsWith("https:") ? 443 : 80);
    return [...allowed, ...namesOf(at.address, parts.host)].some(
      name => called === `${name}:${at.port}` || (isDefaultPort && called === name),
    );
  };
}

/** The host names by which clients reach this address. */
function namesOf(address: string, host = address): readonly string[] {
  if (address === "0.0.0.0") return ["127.0.0.1", "localhost"];
  if (address === "::") return ["127.0.0.1", "[::1]", "localhost"];
  const names = [host, address].map(name => (name.includes(":") ? `[${name}]` : name).toLowerCase());
  return address === "127.0.0.1" || address === "::1" ? [...names, "localhost"] : names;
}
