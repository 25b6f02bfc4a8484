import { Fault, type NewPushConfig, type PushConfig, type TaskId } from "../model/index.ts";
import type { Agent, NewPushSubscription, PushFieldNames } from "../ports/index.ts";
import type { OperationParts } from "./lookup.ts";

export function requirePush(agent: Agent, field?: string): void {
  if (!agent.card.push)
    throw new Fault(
      "push-not-supported",
      `The agent "${agent.name}" does not support push notifications`,
      field === undefined ? {} : { field },
    );
}

/** Headers with a meaning for the delivery or the connection. */
const RESERVED_HEADERS =
  /^(?:accept|baggage|connection|content-.*|cookie|date|dragoman-.*|expect|forwarded|host|keep-alive|origin|proxy-.*|referer|te|trace.*|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|x-a2a-notification-token|x-forwarded-.*)$/;

/** Standard Webhooks: 24 to 64 bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

const DEFAULT_NAMES: PushFieldNames = { url: "url", header: "authentication.header" };

/** Refuses configs that cannot or must not be delivered. `path`: the parameter with the config; "": the parameters themselves. */
export function checkPush(
  { targets }: OperationParts,
  { url, authentication, secret }: NewPushConfig,
  path: string,
  names: PushFieldNames = DEFAULT_NAMES,
): void {
  const invalid = (name: string, problem: string): Fault => {
    const field = path === "" ? name : `${path}.${name}`;
    return new Fault("invalid-params", `${field} ${problem}`, { field });
  };
  const problem = URL.canParse(url) ? targets.refusalOf(new URL(url)) : "must be a URL";
  if (problem) throw invalid(names.url, problem);
  const header = authentication?.header?.toLowerCase();
  if (header !== undefined && RESERVED_HEADERS.test(header))
    throw invalid(names.header, "must not be a reserved header");
  if (secret !== undefined && !SECRET.test(secret))
    throw invalid("secret", "must be whsec_ followed by 24 to 64 random bytes in base64");
}

/**
 * A config without an id gets that of the task, as official servers do, or a new one if that is taken. The same URL means
 * the same config: clients repeat it with every message of a long task.
 */
export function toConfig(
  { newId }: OperationParts,
  config: NewPushConfig,
  taskId: TaskId,
  known: readonly PushConfig[],
): PushConfig {
  if (config.id !== undefined) return { ...config, id: config.id };
  const same = known.find(one => one.url === config.url && one.origin === config.origin);
  return { ...config, id: same?.id ?? (known.some(one => one.id === taskId) ? newId() : taskId) };
}

export const toSubscription = (
  { newId, encryption, pushSnapshot }: OperationParts,
  config: PushConfig,
): NewPushSubscription => ({
  config: mapSecrets(config, secret => encryption.encrypt(secret)),
  key: newId(),
  opening: pushSnapshot ? "task" : "events",
});

/** The config without its secrets, for callers. */
export const redacted = (config: PushConfig): PushConfig => mapSecrets(config, () => undefined);

function mapSecrets(config: PushConfig, map: (secret: string) => string | undefined): PushConfig {
  const { token, secret, authentication, ...rest } = config;
  const { credentials, ...scheme } = authentication ?? { schemes: [] };
  const mapped = {
    token: token && map(token),
    secret: secret && map(secret),
    credentials: credentials && map(credentials),
  };
  return {
    ...rest,
    ...(mapped.token && { token: mapped.token }),
    ...(mapped.secret && { secret: mapped.secret }),
    ...(authentication && {
      authentication: { ...scheme, ...(mapped.credentials && { credentials: mapped.credentials }) },
    }),
  };
}
