import { isIP } from "node:net";
import type { Fetch, Targets } from "../ports/index.ts";
import { type AddressOptions, createAddressRules, isLoopback, normalizeHost } from "./address-rules.ts";
import { createLookup, createResolve, createResolver, type Resolve } from "./lookup.ts";
import { createUndiciFetch } from "./undici-fetch.ts";

export interface GuardedFetchParts extends AddressOptions {
  readonly connectMs: number;
  /** Whether http: URLs are allowed; to loopback they always are. */
  readonly http: boolean;
  /** Replaces DNS. */
  readonly resolve?: Resolve;
}

export interface GuardedFetch extends Targets {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/** The target is an internal address. */
export class AddressRefusal extends Error {
  override readonly name = "AddressRefusal";
  readonly code = "ADDRESS_REFUSED";
}

/** Unused connections are closed after this. */
const IDLE_MS = 10_000;

/** `fetch` for URLs that callers choose. The check is on the address that is dialled: a DNS name can change at any time. */
export function createGuardedFetch(parts: GuardedFetchParts): GuardedFetch {
  const rules = createAddressRules(parts);
  const { isAllowed } = rules;
  const resolver = createResolver();
  const resolve = parts.resolve ?? createResolve(rules, resolver);
  const client = createUndiciFetch(({ Agent, buildConnector }) => {
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
        // An IP literal is dialled without a lookup.
        if (isIP(literal) !== 0 && !isAllowed(literal, literal)) callback(refused(literal), null);
        else connect(options, callback);
      },
    });
  });
  return {
    fetch: client.fetch,
    refusalOf(url) {
      const host = normalizeHost(unbracketed(url.hostname));
      const allowsHttp = parts.http || (parts.loopback && isLoopback(host));
      if (url.protocol !== "https:" && !(url.protocol === "http:" && allowsHttp))
        return "must begin with https://";
      const isInternal = isIP(host) === 0 ? isLoopback(host) && !parts.loopback : !isAllowed(host, host);
      if (!isInternal || rules.isAllowedHost(host)) return undefined;
      return "must not point to an internal address";
    },
    async close() {
      resolver.cancel();
      await client.close();
    },
  };
}

const unbracketed = (host: string): string => host.replace(/^\[|\]$/g, "");

const refused = (host: string): AddressRefusal => new AddressRefusal(`${host} is an internal address`);
