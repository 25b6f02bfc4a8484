import { isIP } from "node:net";
import type { Fetch, Targets } from "../ports/index.ts";
import { type Allowance, createAddresses, isLoopback, toName } from "./address-rules.ts";
import { createLookup, createResolve, createResolver, type Resolve } from "./lookup.ts";
import { through } from "./proxy-request.ts";

export interface GuardedParts extends Allowance {
  readonly connectMs: number;
  /** Whether calls may be made in clear text; to this machine itself they may in any case. */
  readonly http: boolean;
  /** How names are looked up, if not as usual. */
  readonly resolve?: Resolve;
}

export interface Guarded extends Targets {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/** A connection to an address that callers may not point to. */
export class AddressRefusal extends Error {
  override readonly name = "AddressRefusal";
  readonly code = "ADDRESS_REFUSED";
}

/** How long a connection is kept that nobody uses. */
const IDLE_MS = 10_000;

/** Calls to where callers point. What counts is the address that is really dialled: names can change at any time. */
export function createGuarded(parts: GuardedParts): Guarded {
  const addresses = createAddresses(parts);
  const { isAllowed } = addresses;
  const resolver = createResolver();
  const resolve = parts.resolve ?? createResolve(addresses, resolver);
  const way = through(({ Agent, buildConnector }) => {
    const connect = buildConnector({
      timeout: parts.connectMs,
      allowH2: false,
      lookup: createLookup(resolve, isAllowed, refused),
    });
    return new Agent({
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      connect(options, callback) {
        const literal = unbracketed(options.hostname);
        // An address is dialled without a lookup.
        if (isIP(literal) !== 0 && !isAllowed(literal, literal)) callback(refused(literal), null);
        else connect(options, callback);
      },
    });
  });
  return {
    fetch: way.fetch,
    refusalOf(url) {
      const host = toName(unbracketed(url.hostname));
      const isOpen = parts.http || (parts.loopback && isLoopback(host));
      if (url.protocol !== "https:" && !(url.protocol === "http:" && isOpen))
        return "must begin with https://";
      const isInside = isIP(host) === 0 ? isLoopback(host) && !parts.loopback : !isAllowed(host, host);
      if (!isInside || addresses.isNamed(host)) return undefined;
      return "must not point to an address inside the network of this server";
    },
    async close() {
      resolver.cancel();
      await way.close();
    },
  };
}

const unbracketed = (host: string): string => host.replace(/^\[|\]$/g, "");

const refused = (host: string): AddressRefusal =>
  new AddressRefusal(`${host} is an address that this server does not call`);
