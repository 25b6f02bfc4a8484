import type { Outbound } from "../ports/index.ts";
import { createGuarded } from "./guarded-fetch.ts";
import { through } from "./proxy-request.ts";

export { createGuarded } from "./guarded-fetch.ts";

export interface OutboundParts {
  /** Hosts, addresses and networks inside that callers may point to all the same. */
  readonly allow: readonly string[];
  readonly connectMs: number;
}

export interface OpenOutbound extends Outbound {
  close(): Promise<void>;
}

/** Calls to others. */
export function createOutbound({ allow, connectMs }: OutboundParts): OpenOutbound {
  const guarded = createGuarded({ allow, loopback: false, http: true, connectMs });
  // Streams may be quiet for as long as they like: whoever reads them has a signal.
  const trusted = through(
    ({ Agent }) => new Agent({ connect: { timeout: connectMs }, bodyTimeout: 0, headersTimeout: 0 }),
  );
  return {
    guarded: guarded.fetch,
    trusted: trusted.fetch,
    async close() {
      await Promise.all([guarded.close(), trusted.close()]);
    },
  };
}
