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
import { toStoredCredential } from "./credential-store.ts";
import { CALLBACK_PATH, type IsWaiting, type OAuthServices, START_PATH, toProviderParts } from "./index.ts";
import { page } from "./pages.ts";
import { authorizationUrl, exchangeCode, ProviderRejection } from "./provider.ts";
import type { AuthorizationState, BrowserState } from "./state-token.ts";

export interface OAuthParts {
  readonly oauth: OAuthServices;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly wallTime: () => number;
  /** So many random bytes as hex. */
  readonly randomHex: (bytes: number) => string;
  /** The scope of the caller that was asked: the state token was issued when that caller was authorized. */
  readonly toScope: (tenant: string, principal: string) => Scope;
  readonly isWaiting: IsWaiting;
  /** The base URL to redirect to: the Host header is the choice of the caller. undefined: none is known. */
  readonly baseFor: (called: string) => string | undefined;
  /** Continues the waiting task; a Fault if it no longer waits. */
  readonly resume: (scope: Scope, taskId: TaskId, messageId: string) => Promise<void>;
}

const FOREIGN = page(
  400,
  "This link is not valid",
  "This server did not issue it, or it is incomplete. Ask the agent again.",
);
const ANSWERED = page(
  410,
  "This link is no longer needed",
  "The task no longer waits for it: it was answered, it ended, or it asked again.",
);
const EXPIRED = page(410, "This link has expired", "Open the link of the agent again.");
const ELSEWHERE = page(400, "Started in another browser", "Open the link of the agent in this browser.");
const DECLINED = page(
  200,
  "Authorization declined",
  "You can close this page, or open the link of the agent again.",
);
const FAILED = page(
  502,
  "Authorization failed",
  "The provider granted no access. Open the link of the agent again.",
);
const DONE = page(200, "Authorized", "The agent continues its work. You can close this page.");

/** Faults of a task that no longer waits. */
const GONE: ReadonlySet<FaultCode> = new Set<FaultCode>(["task-not-found", "conflict"]);

/** The authorization code grant with PKCE in the browser of the caller (RFC 6749 §4.1, RFC 7636, RFC 9700). */
export function createOAuthPages(parts: OAuthParts): readonly Endpoint[] {
  const { oauth, wallTime } = parts;
  /** Nonces of state tokens that were used, until they expire. */
  const used = new Map<string, number>();

  async function start(call: EndpointRequest): Promise<EndpointResponse> {
    const request = oauth.stateTokens.readRequest(call.query.get("ask") ?? "");
    const provider = request && providerOf(request);
    if (!request || !provider) return FOREIGN;
    const base = parts.baseFor(call.base());
    if (base === undefined) return FOREIGN;
    // The provider redirects to that base: the cookie must belong to the same one.
    if (base !== call.base()) return redirect(`${base}${START_PATH}?${call.query}`);
    if (!(await isWaiting(request))) return ANSWERED;
    const nonce = parts.randomHex(16);
    const state: BrowserState = {
      ...request,
      nonce,
      verifier: parts.randomHex(32),
      redirectUri: `${base}${CALLBACK_PATH}`,
      expiresAt: wallTime() + LIMITS.oauthStateMs,
    };
    const url = authorizationUrl(provider, { ...state, state: oauth.stateTokens.writeBrowserState(state) });
    return redirect(url, { "Set-Cookie": cookieOf(nonce, base) });
  }

  async function callback(call: EndpointRequest): Promise<EndpointResponse> {
    const state = oauth.stateTokens.readBrowserState(call.query.get("state") ?? "");
    const provider = state && providerOf(state);
    if (!state || !provider) return FOREIGN;
    if (state.expiresAt < wallTime()) return EXPIRED;
    if (!hasCookie(call, state.nonce)) return ELSEWHERE;
    const code = call.query.get("code");
    if (code === null || call.query.has("error")) return DECLINED;
    if (!use(state) || !(await isWaiting(state))) return ANSWERED;
    return finish(state, provider, code);
  }

  async function finish(
    state: BrowserState,
    provider: OAuthProvider,
    code: string,
  ): Promise<EndpointResponse> {
    const { agent, name } = state;
    const scope = scopeOf(state);
    try {
      const tokens = await exchangeCode(toProviderParts(parts.fetch), provider, { ...state, code });
      const owner: CredentialOwner = { scope, agent: agent as CredentialOwner["agent"] };
      await oauth.credentials.put(owner, name, toStoredCredential(tokens, wallTime()));
      await parts.resume(scope, state.taskId as TaskId, state.messageId);
      return DONE;
    } catch (error) {
      if (error instanceof Fault && GONE.has(error.code)) return ANSWERED;
      const level = error instanceof ProviderRejection ? "warn" : "error";
      parts.log[level]({ err: error, agent, name }, "authorization failed");
      return FAILED;
    }
  }

  const providerOf = ({ name }: AuthorizationState): OAuthProvider | undefined =>
    Object.hasOwn(oauth.providers, name) ? oauth.providers[name] : undefined;
  const scopeOf = ({ tenant, principal }: AuthorizationState): Scope => parts.toScope(tenant, principal);
  const isWaiting = (request: AuthorizationState): Promise<boolean> =>
    parts.isWaiting(scopeOf(request), request.taskId as TaskId, request.messageId);

  /** false: this state token was used before. */
  function use({ nonce, expiresAt }: BrowserState): boolean {
    for (const [one, end] of used) {
      if (end >= wallTime() && used.size < LIMITS.oauthStatesMax) break;
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

const redirect = (url: string, headers: EndpointResponse["headers"] = {}): EndpointResponse =>
  page(302, "Redirecting", "Your browser is redirected.", { ...headers, Location: url });

/** One cookie per authorization: several links may be open in one browser. */
const cookieName = (nonce: string): string => `dragoman_oauth_${nonce.slice(0, 8)}`;

function cookieOf(nonce: string, base: string): string {
  const age = Math.floor(LIMITS.oauthStateMs / 1_000);
  const secure = base.startsWith("https:") ? "; Secure" : "";
  // Lax: the browser sends it when the provider redirects back.
  return `${cookieName(nonce)}=${nonce}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure}`;
}

const hasCookie = ({ headers }: EndpointRequest, nonce: string): boolean =>
  (headers.cookie ?? "").split(/;\s*/).includes(`${cookieName(nonce)}=${nonce}`);
