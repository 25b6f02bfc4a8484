import {
  Fault,
  type FaultCode,
  LIMITS,
  type OAuthProvider,
  type Scope,
  type TaskId,
} from "../model/index.ts";
import type {
  CredentialOwner,
  Endpoint,
  EndpointRequest,
  EndpointResponse,
  Fetch,
  Log,
} from "../ports/index.ts";
import { toKept } from "./credential-store.ts";
import { CALLBACK_PATH, type CredentialDesk, START_PATH, tokenParts, type Waits } from "./index.ts";
import { page } from "./pages.ts";
import { authorizationUrl, exchangeCode, TokenRefusal } from "./provider.ts";
import type { Ask, Visit } from "./state-token.ts";

export interface OAuthParts {
  readonly desk: CredentialDesk;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly wallTime: () => number;
  /** That many bytes of chance, as hex. */
  readonly chance: (bytes: number) => string;
  /** The scope of whoever asked: what is sealed was written when he was admitted. */
  readonly toScope: (tenant: string, principal: string) => Scope;
  readonly waits: Waits;
  /** The base that a visit at this base belongs to: the Host header is the caller's choice. undefined: none is known. */
  readonly baseFor: (called: string) => string | undefined;
  /** Lets the task go on that waited; a Fault if it no longer does. */
  readonly goOn: (scope: Scope, taskId: TaskId, messageId: string) => Promise<void>;
}

const FOREIGN = page(
  400,
  "This link is not valid",
  "It was not made here, or it is not whole. Ask the agent again.",
);
const ANSWERED = page(
  410,
  "This link is no longer needed",
  "The task does not wait for it any more: it was answered, it ended, or it asked again.",
);
const EXPIRED = page(410, "This took too long", "Open the link that the agent gave you once more.");
const ELSEWHERE = page(
  400,
  "Another browser began this",
  "Open the link that the agent gave you in this one.",
);
const DECLINED = page(
  200,
  "Nothing was authorized",
  "You can close this page, or open the agent's link once more.",
);
const FAILED = page(
  502,
  "This did not work",
  "The provider gave no access. Open the agent's link once more.",
);
const DONE = page(200, "Done", "The agent goes on with its work. You can close this page.");

/** What a task says that no longer waits. */
const GONE: ReadonlySet<FaultCode> = new Set<FaultCode>(["task-not-found", "conflict"]);

/** The authorization code grant with PKCE, in the browser of whoever was asked (RFC 6749 §4.1, RFC 7636, RFC 9700). */
export function createOAuthPages(parts: OAuthParts): readonly Endpoint[] {
  const { desk, wallTime } = parts;
  /** Visits that were used, until they would have ended anyway. */
  const used = new Map<string, number>();

  async function start(call: EndpointRequest): Promise<EndpointResponse> {
    const ask = desk.slips.readAsk(call.query.get("ask") ?? "");
    const provider = ask && providerOf(ask);
    if (!ask || !provider) return FOREIGN;
    const base = parts.baseFor(call.base());
    if (base === undefined) return FOREIGN;
    // The provider sends the browser back to that base: its cookie must be of the same one.
    if (base !== call.base()) return onward(`${base}${START_PATH}?${call.query}`);
    if (!(await isWaiting(ask))) return ANSWERED;
    const nonce = parts.chance(16);
    const visit: Visit = {
      ...ask,
      nonce,
      verifier: parts.chance(32),
      redirectUri: `${base}${CALLBACK_PATH}`,
      expiresAt: wallTime() + LIMITS.oauthVisitMs,
    };
    const url = authorizationUrl(provider, { ...visit, state: desk.slips.writeVisit(visit) });
    return onward(url, { "Set-Cookie": cookieOf(nonce, base) });
  }

  async function callback(call: EndpointRequest): Promise<EndpointResponse> {
    const visit = desk.slips.readVisit(call.query.get("state") ?? "");
    const provider = visit && providerOf(visit);
    if (!visit || !provider) return FOREIGN;
    if (visit.expiresAt < wallTime()) return EXPIRED;
    if (!hasCookie(call, visit.nonce)) return ELSEWHERE;
    const code = call.query.get("code");
    if (code === null || call.query.has("error")) return DECLINED;
    if (!take(visit) || !(await isWaiting(visit))) return ANSWERED;
    return finish(visit, provider, code);
  }

  async function finish(visit: Visit, provider: OAuthProvider, code: string): Promise<EndpointResponse> {
    const { agent, name } = visit;
    const scope = scopeOf(visit);
    try {
      const tokens = await exchangeCode(tokenParts(parts.fetch), provider, { ...visit, code });
      const owner: CredentialOwner = { scope, agent: agent as CredentialOwner["agent"] };
      await desk.safe.put(owner, name, toKept(tokens, wallTime()));
      await parts.goOn(scope, visit.taskId as TaskId, visit.messageId);
      return DONE;
    } catch (error) {
      if (error instanceof Fault && GONE.has(error.code)) return ANSWERED;
      const level = error instanceof TokenRefusal ? "warn" : "error";
      parts.log[level]({ err: error, agent, name }, "an authorization came to nothing");
      return FAILED;
    }
  }

  const providerOf = ({ name }: Ask): OAuthProvider | undefined =>
    Object.hasOwn(desk.providers, name) ? desk.providers[name] : undefined;
  const scopeOf = ({ tenant, principal }: Ask): Scope => parts.toScope(tenant, principal);
  const isWaiting = (ask: Ask): Promise<boolean> =>
    parts.waits(scopeOf(ask), ask.taskId as TaskId, ask.messageId);

  /** false: somebody was here before with the same. */
  function take({ nonce, expiresAt }: Visit): boolean {
    for (const [one, end] of used) {
      if (end >= wallTime() && used.size < LIMITS.oauthVisitsMax) break;
      used.delete(one);
    }
    if (used.has(nonce)) return false;
    used.set(nonce, expiresAt);
    return true;
  }

  return [
    { verb: "GET", path: START_PATH, serve: start },
    { verb: "GET", path: CALLBACK_PATH, serve: callback },
  ];
}

const onward = (url: string, headers: EndpointResponse["headers"] = {}): EndpointResponse =>
  page(302, "One moment", "Your browser goes on to another page.", { ...headers, Location: url });

/** One for each visit: several links may be open at once in one browser. */
const cookieName = (nonce: string): string => `dragoman_oauth_${nonce.slice(0, 8)}`;

function cookieOf(nonce: string, base: string): string {
  const age = Math.floor(LIMITS.oauthVisitMs / 1_000);
  const secure = base.startsWith("https:") ? "; Secure" : "";
  // Lax: it comes along when the provider sends the browser back.
  return `${cookieName(nonce)}=${nonce}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure}`;
}

const hasCookie = ({ headers }: EndpointRequest, nonce: string): boolean =>
  (headers.cookie ?? "").split(/;\s*/).includes(`${cookieName(nonce)}=${nonce}`);
