import { lookup as ask, type LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { type Addresses, isLoopback, toName } from "./address-rules.ts";

/** The addresses of a host; rejects if there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const PATIENCE_MS = 5_000;
const TRIES_MAX = 2;

export const createResolver = (): Resolver => new Resolver({ timeout: PATIENCE_MS, tries: TRIES_MAX });

/**
 * The system looks names up in few threads, which a caller could keep busy with names whose servers do not answer: it is
 * asked only for names that this machine itself may know. It would also try the endings of names that are ours.
 */
export const createResolve =
  (addresses: Addresses, resolver: Resolver): Resolve =>
  host =>
    addresses.isNamed(host) || isLoopback(host) ? askSystem(toName(host)) : askServers(resolver, host);

const askSystem = (host: string): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    ask(host, { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve(found.map(one => one.address));
    });
  });

async function askServers(resolver: Resolver, host: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap(one => (one.status === "fulfilled" ? one.value : []));
  const [first] = answers;
  if (found.length === 0 && first.status === "rejected") throw first.reason;
  return found;
}

/** Looks a name up for a connection that is about to be made, and gives no address that is refused. */
export function createLookup(
  resolve: Resolve,
  isAllowed: Addresses["isAllowed"],
  refused: (host: string) => Error,
): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      found => {
        // One bad address among good ones is a trick, or will be dialled when the others do not answer.
        const isGood = found.length > 0 && found.every(address => isAllowed(address, host));
        const [first, ...others] = found.map(toAddress);
        if (!isGood || !first) return callback(refused(host), "");
        if (options.all) return callback(null, [first, ...others]);
        callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
