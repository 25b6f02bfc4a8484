import { lookup as ask, type LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { type AddressRules, isLoopback, normalizeHost } from "./address-rules.ts";

/** The addresses of a host; rejects if there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const TIMEOUT_MS = 5_000;
const TRIES_MAX = 2;

export const createResolver = (): Resolver => new Resolver({ timeout: TIMEOUT_MS, tries: TRIES_MAX });

/**
 * The resolver of the system uses few threads, which a caller could block with names whose servers do not answer: it is
 * used only for allowed hosts and loopback. It would also append the search domains of this machine.
 */
export const createResolve =
  (rules: AddressRules, resolver: Resolver): Resolve =>
  host =>
    rules.isAllowedHost(host) || isLoopback(host)
      ? lookUpInSystem(normalizeHost(host))
      : queryServers(resolver, host);

const lookUpInSystem = (host: string): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    ask(host, { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve(found.map(one => one.address));
    });
  });

async function queryServers(resolver: Resolver, host: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap(one => (one.status === "fulfilled" ? one.value : []));
  const [first] = answers;
  if (found.length === 0 && first.status === "rejected") throw first.reason;
  return found;
}

/** The DNS lookup of a connection: fails if any address of the host is internal. */
export function createLookup(
  resolve: Resolve,
  isAllowed: AddressRules["isAllowed"],
  refused: (host: string) => Error,
): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      found => {
        // A host with one internal address among others is refused: that address might be dialled.
        const isAllowedList = found.length > 0 && found.every(address => isAllowed(address, host));
        const [first, ...others] = found.map(toAddress);
        if (!isAllowedList || !first) return callback(refused(host), "");
        if (options.all) return callback(null, [first, ...others]);
        callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
