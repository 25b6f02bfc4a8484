/** Options on how much callers may have. */
import { z } from "zod";
import { LIMITS, type Quotas } from "../model/index.ts";
import { asJson, count, ms, type Option, whole } from "./option.ts";

export interface LimitOptions {
  readonly quotas: Quotas;
  readonly queueMax: number;
  readonly queueWaitMs: number;
  readonly connectionsMax: number;
  readonly unreadBytesMax: number;
}

const amount = z.number().positive().optional();
const QUOTA = z.strictObject({
  callsPerSecond: amount,
  callsBurst: z.number().min(1).optional(),
  runs: z.int().min(1).optional(),
  streams: z.int().min(0).optional(),
  tasks: z.int().min(0).optional(),
  bodyBytes: z.int().min(1).optional(),
  tokensPerDay: amount,
});
const BOTH = { caller: QUOTA.optional(), tenant: QUOTA.optional() };
const QUOTAS = z.strictObject({
  ...BOTH,
  tenants: z.record(z.string(), z.strictObject(BOTH)).optional(),
});

export const LIMIT_OPTIONS: { readonly [K in keyof LimitOptions]: Option<LimitOptions[K]> } = {
  quotas: {
    about: "What one caller and one tenant may have",
    expected:
      "an object such as { caller: { callsPerSecond: 10 }, tenant: { runs: 100 }, tenants: { acme: { … } } }",
    schema: QUOTAS as unknown as z.ZodType<Quotas>,
    fallback: {},
    fromText: asJson,
  },
  queueMax: count({ about: "Tasks that may wait for a run", fallback: LIMITS.queueMax }),
  queueWaitMs: ms(0, {
    about: "How long no run may become free before new messages are refused; 0: they wait",
    fallback: LIMITS.queueWaitMs,
  }),
  unreadBytesMax: whole(1_024, 1_099_511_627_776, {
    about: "Bytes of large answers that callers have not read yet; one caller may have half of it",
    fallback: LIMITS.unreadBytesMax,
  }),
  connectionsMax: count({ about: "Connections at once", fallback: LIMITS.connectionsMax }),
};
