import type { Outbound } from "../ports/index.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";
import { createUndiciFetch } from "./undici-fetch.ts";

export { createGuardedFetch } from "./guarded-fetch.ts";

export interface OutboundParts {
  /** Internal hosts, addresses and networks that callers may point to. */
  readonly allow: readonly string[];
  readonly connectMs: number;
}

export interface OpenOutbound extends Outbound {
  close(): Promise<void>;
}

/** Outgoing HTTP: `guarded` for URLs of callers, `trusted` for URLs of the operator. */
export function createOutbound({ allow, connectMs }: OutboundParts): OpenOutbound {
  const guarded = createGuardedFetch({ allow, loopback: false, http: true, connectMs });
  // Streams may be silent for any time: their readers have signals.
  const trusted = createUndiciFetch(
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
