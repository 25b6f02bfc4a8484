import { isIP } from "node:net";
import { LIMITS } from "../../model/index.ts";
import { boolean, count, list, milliseconds } from "./option.ts";

/** A host, an address, or a network with as many bits as its family has. */
function isHostOrNetwork(entry: string): boolean {
  const [net = "", bits, ...more] = entry.split("/");
  const family = isIP(net);
  if (bits === undefined) return family !== 0 || /^[a-z0-9._-]+$/i.test(net);
  return (
    more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)
  );
}

export const PUSH_OPTIONS = {
  pushAllow: list({
    help: "Private hosts, addresses and networks that webhooks may have",
    default: [],
    expected: "a list of hosts, addresses and networks such as 10.1.0.0/16",
    isValid: isHostOrNetwork,
  }),
  pushAllowLoopback: boolean({
    help: "Allow webhooks on this machine, also without TLS; on by default in `dev`",
    default: false,
  }),
  pushHttp: boolean({ help: "Allow webhooks without TLS", default: false }),
  pushSnapshot: boolean({ help: "Send the current task to a new webhook first", default: true }),
  pushesMax: count({ help: "Concurrent webhook deliveries", default: LIMITS.pushesMax }),
  pushTimeoutMs: milliseconds(100, {
    help: "Time that a webhook has to respond",
    default: LIMITS.pushTimeoutMs,
  }),
  pushRetryMs: milliseconds(10, {
    help: "Delay before a failed delivery is retried; it doubles with each retry",
    default: LIMITS.pushRetryMs,
  }),
  pushGiveUpMs: milliseconds(0, {
    help: "Time after which a failing delivery is no longer retried",
    default: LIMITS.pushGiveUpMs,
  }),
};
