import { Fault, type NewPush, type PushConfig, type TaskId } from "../model/index.ts";
import type { Agent, NewPushSubscription } from "../ports/index.ts";
import type { CoreParts } from "./lookup.ts";

export function requirePush(agent: Agent, field?: string): void {
  if (!agent.card.push)
    throw new Fault(
      "push-not-supported",
      `The agent "${agent.name}" sends no push notifications`,
      field === undefined ? {} : { field },
    );
}

/** Refuses what could never be delivered, or must not be. `path`: the parameter that said it; "": the parameters themselves. */
export function checkPush(
  { targets }: CoreParts,
  { url, authentication, secret }: NewPush,
  path: string,
): void {
  const problem = URL.canParse(url) ? targets.refusalOf(new URL(url)) : "must be a URL";
  if (problem) throw bad(path, "url", problem);
  const header = authentication?.header?.toLowerCase();
  if (header !== undefined && TAKEN.test(header))
    throw bad(path, "authentication.header", "must not be a header that means something else already");
  if (secret !== undefined && !SECRET.test(secret))
    throw bad(path, "secret", "must be whsec_ and then 24 to 64 random bytes as base64");
}

/** Headers that say something about the delivery or the connection. */
const TAKEN =
  /^(?:accept|baggage|connection|content-.*|cookie|date|dragoman-.*|expect|forwarded|host|keep-alive|origin|proxy-.*|referer|te|trace.*|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|x-a2a-notification-token|x-forwarded-.*)$/;

/** Standard Webhooks: 24 to 64 bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

const bad = (path: string, name: string, problem: string): Fault => {
  const field = path === "" ? name : `${path}.${name}`;
  return new Fault("invalid-params", `${field} ${problem}`, { field });
};

/**
 * A config without an id gets that of the task, as official servers do, or one of its own if others are there. Who sets the
 * same URL once more means the same config, as with every message of a long task.
 */
export function toConfig(
  { newId }: CoreParts,
  config: NewPush,
  taskId: TaskId,
  known: readonly PushConfig[],
): PushConfig {
  if (config.id !== undefined) return { ...config, id: config.id };
  const same = known.find(one => one.url === config.url && one.origin === config.origin);
  return { ...config, id: same?.id ?? (known.some(one => one.id === taskId) ? newId() : taskId) };
}

export const toDelivery = (
  { newId, vault, pushSnapshot }: CoreParts,
  config: PushConfig,
): NewPushSubscription => ({
  config: withSecrets(config, secret => vault.encrypt(secret)),
  key: newId(),
  opening: pushSnapshot ? "task" : "events",
});

/** As callers see it: what is secret is left out. */
export const redacted = (config: PushConfig): PushConfig => withSecrets(config, () => undefined);

function withSecrets(config: PushConfig, change: (secret: string) => string | undefined): PushConfig {
  const { token, secret, authentication, ...rest } = config;
  const { credentials, ...how } = authentication ?? { schemes: [] };
  const changed = {
    token: token && change(token),
    secret: secret && change(secret),
    credentials: credentials && change(credentials),
  };
  return {
    ...rest,
    ...(changed.token && { token: changed.token }),
    ...(changed.secret && { secret: changed.secret }),
    ...(authentication && {
      authentication: { ...how, ...(changed.credentials && { credentials: changed.credentials }) },
    }),
  };
}
