import { lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, fetch as call } from "undici";
import type { Fetch, Outbound } from "../ports.ts";
import { createAddressCheck, toAllowed } from "./addresses.ts";

export interface OutboundParts {
  /** Hosts, addresses and networks inside that callers may point to all the same. */
  readonly allow: readonly string[];
  readonly connectMs: number;
}

/** A connection to an address that callers may not point to. */
export class AddressRefusal extends Error {
  override readonly name = "AddressRefusal";
}

export interface OpenOutbound extends Outbound {
  close(): Promise<void>;
}

/** Calls to others. Where callers may point to is checked with the address that is really dialled: names can change. */
export function createOutbound(parts: OutboundParts): OpenOutbound {
  const isAllowed = createAddressCheck(toAllowed(parts.allow));
  const timeout = parts.connectMs;
  const connect = buildConnector({ timeout, lookup: createLookup(isAllowed) });
  const guarded = new Agent({
    connect(options, callback) {
      const { hostname } = options;
      const literal = hostname.replace(/^\[|\]$/g, "");
      // An address is dialled without a lookup.
      if (isIP(literal) !== 0 && !isAllowed(literal, literal)) callback(refused(hostname), null);
      else connect(options, callback);
    },
  });
  // Streams may be quiet for as long as they like: whoever reads them has a signal.
  const trusted = new Agent({ connect: { timeout }, bodyTimeout: 0, headersTimeout: 0 });
  return {
    guarded: through(guarded),
    trusted: through(trusted),
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

const refused = (host: string): AddressRefusal =>
  new AddressRefusal(`${host} is an address that this server does not call`);

function createLookup(isAllowed: (address: string, host: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, "");
      const bad = found.length === 0 || found.some(({ address }) => !isAllowed(address, host));
      if (bad) return callback(refused(host), "");
      if (options.all) return callback(null, found);
      const [first] = found;
      callback(null, first?.address ?? "", first?.family);
    });
  };
}

/** undici's own fetch: the one of an older Node does not take agents of this version. */
const through =
  (dispatcher: Agent): Fetch =>
  async (url, init) =>
    (await call(url, { redirect: "manual", ...(init as object), dispatcher })) as unknown as Response;
