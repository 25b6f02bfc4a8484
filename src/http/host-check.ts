/** Which names of this machine, and which pages in a browser, are let in where nobody is asked who he is. */
import type { IncomingHttpHeaders } from "node:http";

export interface HostParts {
  readonly auth: readonly string[];
  /** The address at which the server listens. */
  readonly host: string;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly cors: readonly string[] | undefined;
  readonly trustProxy: boolean;
}

/** Why a request is not taken; undefined: it is. */
export type HostCheck = (headers: IncomingHttpHeaders, method: string | undefined) => string | undefined;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether only this machine itself can reach the address. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * A page of anywhere can make a browser call us: by a name that it lets point to this machine (then the Host is its own),
 * or as itself (then the Origin is). Where callers show what a page cannot know, that does no harm; but a browser shows
 * certificates by itself. Programs are no browsers, and name no Origin. undefined: there is nothing to check.
 */
export function createHostCheck(parts: HostParts): HostCheck | undefined {
  const { auth, cors, publicUrl } = parts;
  if (!auth.includes("none") && !auth.includes("mtls")) return undefined;
  const checkName = createNameCheck(parts);
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const isOwn = (from: string, called: string | undefined): boolean =>
    from === own || (called !== undefined && URL.parse(from)?.host === called);
  return (headers, method) => {
    const problem = checkName?.(headers.host);
    const from = headers.origin;
    if (problem !== undefined || from === undefined || READING.has(method ?? "")) return problem;
    const forwarded = parts.trustProxy ? headers["x-forwarded-host"] : undefined;
    if (isOwn(from, String(forwarded ?? headers.host).toLowerCase())) return undefined;
    if (cors?.includes("*") || cors?.includes(from)) return undefined;
    return `Pages of ${shown(from)} may not call this server; if they should, start it with --cors`;
  };
}

export interface OwnBaseParts {
  /** The name or address that the server was told to listen at; undefined: another program listens. */
  readonly host: string | undefined;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly trustProxy: boolean;
  /** Where the server listens; undefined: it does not, or does not yet. */
  readonly listening: () => { readonly address: string; readonly port: number } | undefined;
  /** The path below which another program has mounted us. */
  readonly path?: string | undefined;
}

const BASE = /^https?:\/\/([^/]+)(\/.*)?$/;

/**
 * Whether a base leads to this server as far as the operator said so: `publicUrl`; an allowed host, at our port or at
 * the usual one; an address at which the server listens, at our port. The Host header is the caller's choice, so every
 * other base may lead anywhere. Texts are compared as they are: 127.1, a dot at the end or a port written 02024 is no match.
 */
export function createOwnBase(parts: OwnBaseParts): (base: string) => boolean {
  const { publicUrl, allowedHosts = [], trustProxy, path = "" } = parts;
  if (publicUrl !== undefined) return base => base === publicUrl;
  const allowed = new Set(allowedHosts.map(name => name.toLowerCase()));
  // A prefix comes from a header of a proxy, or from the router of the program that mounted us.
  const isPathFixed = trustProxy || parts.host !== undefined;
  return base => {
    const [, authority = "", prefix = ""] = BASE.exec(base) ?? [];
    if (isPathFixed && prefix !== path) return false;
    const called = authority.toLowerCase();
    if (allowed.has(called)) return true;
    const at = parts.listening();
    if (!at) return false;
    const usual = at.port === (base.startsWith("https:") ? 443 : 80);
    return [...allowed, ...namesOf(at.address, parts.host)].some(
      name => called === `${name}:${at.port}` || (usual && called === name),
    );
  };
}

/** By which names callers on the way to this address reach it. */
function namesOf(address: string, host = address): readonly string[] {
  if (address === "0.0.0.0") return ["127.0.0.1", "localhost"];
  if (address === "::") return ["127.0.0.1", "[::1]", "localhost"];
  const names = [host, address].map(name => (name.includes(":") ? `[${name}]` : name).toLowerCase());
  return address === "127.0.0.1" || address === "::1" ? [...names, "localhost"] : names;
}

const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** undefined: names are not asked for. Behind a proxy it is the proxy that is called; other machines have names for us. */
function createNameCheck(parts: HostParts): ((called: string | undefined) => string | undefined) | undefined {
  const { auth, host, publicUrl, allowedHosts = [] } = parts;
  if (!auth.includes("none") || !isLoopback(host) || parts.trustProxy) return undefined;
  const own = ["localhost", "127.0.0.1", "[::1]", host, `[${host}]`, ...allowedHosts];
  const names = new Set([...own, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])]);
  const known = new Set([...names].map(name => name.toLowerCase()));
  return called => {
    if (called === undefined || known.has(called.toLowerCase().replace(/:\d+$/, ""))) return undefined;
    return `This server is not called ${shown(called)} here; if it should be, start it with --allowed-hosts`;
  };
}

/** It comes from a stranger. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 100));
