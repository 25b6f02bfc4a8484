/** Options on webhooks. */
import { isIP } from "node:net";
import { z } from "zod";
import { LIMITS } from "../model/index.ts";
import { asList, asTruth, count, ms, type Option } from "./option.ts";

export interface PushOptions {
  readonly pushAllow: readonly string[];
  readonly pushAllowLoopback: boolean;
  readonly pushHttp: boolean;
  readonly pushSnapshot: boolean;
  readonly pushesMax: number;
  readonly pushTimeoutMs: number;
  readonly pushRetryMs: number;
  readonly pushGiveUpMs: number;
}

const truth = (about: string, fallback: boolean): Option<boolean> => ({
  about,
  expected: "true or false",
  schema: z.boolean(),
  fallback,
  fromText: asTruth,
});

/** A host, an address, or a network with as many bits as it may have. */
function isTarget(entry: string): boolean {
  const [net = "", bits, ...more] = entry.split("/");
  const kind = isIP(net);
  if (bits === undefined) return kind !== 0 || /^[a-z0-9._-]+$/i.test(net);
  return more.length === 0 && kind !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 6 ? 128 : 32);
}

export const PUSH_OPTIONS: { readonly [K in keyof PushOptions]: Option<PushOptions[K]> } = {
  pushAllow: {
    about: "Where webhooks may be inside the network of this server",
    expected: "a list of hosts, addresses and networks such as 10.1.0.0/16",
    schema: z.array(z.string().refine(isTarget)),
    fallback: [],
    fromText: asList,
  },
  pushAllowLoopback: truth("Webhooks may be on this machine, also without TLS", false),
  pushHttp: truth("Webhooks may be called without TLS", false),
  pushSnapshot: truth("A new webhook first gets the task as it stands", true),
  pushesMax: count({ about: "Deliveries to webhooks at once", fallback: LIMITS.pushesMax }),
  pushTimeoutMs: ms(100, {
    about: "How long a webhook may take to answer",
    fallback: LIMITS.pushTimeoutMs,
  }),
  pushRetryMs: ms(10, {
    about: "Before a delivery that failed is tried again; then twice as long each time",
    fallback: LIMITS.pushRetryMs,
  }),
  pushGiveUpMs: ms(0, {
    about: "How long a delivery is tried before it is given up",
    fallback: LIMITS.pushGiveUpMs,
  }),
};
