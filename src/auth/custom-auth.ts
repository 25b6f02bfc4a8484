/** Authentication and authorization by functions of the operator. */
import type { JsonObject } from "../lib/json.ts";
import { DEFAULT_PERMISSIONS, DEFAULT_TENANT, Fault, isCallerName } from "../model/index.ts";
import type {
  AuthMethod,
  Caller,
  CustomAuth,
  CustomUser,
  Principal,
  RequestHeaders,
} from "../ports/index.ts";
import { bearerChallenge, invalidCredentials } from "./bearer.ts";

export interface CustomAuthParts {
  readonly auth: CustomAuth;
  /** Calls of LangGraph Studio are let in without credentials. For a server that only its own machine reaches. */
  readonly allowsStudio: boolean;
  readonly cache: CustomAuthCache | undefined;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}
export interface CustomAuthCache {
  /** Headers in which callers differ, in lower case. */
  readonly headers: readonly string[];
  readonly ttlMs: number;
  readonly entriesMax: number;
}

const STUDIO_USER: CustomUser = {
  identity: "langgraph-studio-user",
  kind: "StudioUser",
  display_name: "langgraph-studio-user",
  is_authenticated: true,
  permissions: [],
};

export function createCustomAuth(parts: CustomAuthParts): AuthMethod {
  const cached = new Map<string, { readonly principal: Principal; readonly until: number }>();

  async function authenticate(caller: Caller): Promise<Principal> {
    try {
      return toCustomPrincipal(toUser(await parts.auth.authenticate(toRequest(caller))));
    } catch (error) {
      throw toAuthFault(error, "unauthenticated");
    }
  }

  async function findCached(caller: Caller, rule: CustomAuthCache): Promise<Principal> {
    const key = JSON.stringify(rule.headers.map(name => caller.headers[name] ?? null));
    const known = cached.get(key);
    if (known && known.until > parts.ticks()) return known.principal;
    const principal = await authenticate(caller);
    cached.delete(key);
    if (cached.size >= rule.entriesMax) cached.delete(cached.keys().next().value as string);
    cached.set(key, { principal, until: parts.ticks() + rule.ttlMs });
    return principal;
  }

  return {
    schemes: [{ name: "bearer", kind: "bearer" }],
    challenge: bearerChallenge,
    authenticate(caller) {
      if (parts.allowsStudio && caller.headers["x-auth-scheme"] === "langsmith")
        return toCustomPrincipal(STUDIO_USER);
      const found = parts.cache ? findCached(caller, parts.cache) : authenticate(caller);
      // A caller without credentials is anonymous: agent cards are public.
      return found.catch(error => {
        if (error instanceof Fault && error.code === "unauthenticated" && !hasCredentials(caller))
          return undefined;
        throw error;
      });
    },
  };
}

const hasCredentials = ({ headers }: Caller): boolean =>
  (headers.authorization ?? headers["x-api-key"] ?? headers.cookie) !== undefined;

/** Its path and verb are not known for a caller that comes by gRPC. */
function toRequest({ headers, target }: Caller): Request {
  const { verb, url } = target?.() ?? { verb: "POST", url: "/" };
  const base = `http://${headers.host ?? "localhost"}`;
  return new Request(new URL(url, URL.canParse(base) ? base : "http://localhost"), {
    method: verb,
    headers: toWebHeaders(headers),
  });
}

function toWebHeaders(headers: RequestHeaders): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith(":")) all.set(name, value);
  return all;
}

function toUser(found: unknown): CustomUser {
  const user = typeof found === "string" ? { identity: found } : found;
  const { identity } = (user ?? {}) as { identity?: unknown };
  if (typeof identity !== "string" || !isCallerName(identity))
    throw invalidCredentials("The custom authentication returned no identity");
  const members = JSON.parse(JSON.stringify(user)) as JsonObject;
  const { permissions, display_name: name } = members;
  return {
    is_authenticated: true,
    ...members,
    identity,
    display_name: typeof name === "string" ? name : identity,
    permissions: Array.isArray(permissions) ? permissions.filter(one => typeof one === "string") : [],
  };
}

/** A user may name its tenant; callers of different tenants have nothing in common. */
const toCustomPrincipal = (user: CustomUser): Principal => ({
  subject: user.identity,
  tenants: [typeof user.tenant === "string" && isCallerName(user.tenant) ? user.tenant : DEFAULT_TENANT],
  grants: DEFAULT_PERMISSIONS,
  agents: undefined,
  isValid: () => true,
  user,
});

/** A filter of metadata that everything touched must match; undefined: none. A Fault if the handler refuses. */
export async function askHandler(
  { handlers }: CustomAuth,
  user: CustomUser,
  resource: string,
  action: string,
  value: Record<string, unknown>,
): Promise<JsonObject | undefined> {
  const event = `${resource}:${action}`;
  const name = [event, resource, `*:${action}`, "*"].find(one => Object.hasOwn(handlers, one));
  if (name === undefined) return undefined;
  let decision: unknown;
  try {
    const call = { event, resource, action, value, permissions: user.permissions, user };
    decision = await handlers[name]?.(call);
  } catch (error) {
    throw toAuthFault(error, "forbidden");
  }
  if (decision === undefined || decision === null || decision === true) return undefined;
  if (decision === false) throw new Fault("forbidden", "Forbidden");
  if (typeof decision === "object") return JSON.parse(JSON.stringify(decision)) as JsonObject;
  throw new Error(`the handler of "${name}" must return true, false, a filter or nothing`);
}

/** An error with a status is an answer for the caller, as `HTTPException` is; any other is a bug of the operator's code. */
function toAuthFault(error: unknown, otherwise: "unauthenticated" | "forbidden"): unknown {
  if (error instanceof Fault) return error;
  const { status, message } = (error ?? {}) as { status?: unknown; message?: unknown };
  if (typeof status !== "number") return error;
  const text = typeof message === "string" && message !== "" ? message : "Unauthorized";
  if (status === 401) return new Fault("unauthenticated", text);
  if (status === 403) return new Fault("forbidden", text);
  if (status === 404) return new Fault("task-not-found", text);
  if (status === 429) return new Fault("rate-limited", text);
  if (status >= 500) return new Fault("unavailable", text);
  return new Fault(otherwise, text);
}
