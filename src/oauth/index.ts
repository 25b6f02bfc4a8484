/** Credentials that callers grant to agents: stored encrypted, refreshed, requested in a browser. */
import { Fault, isAnonymous, LIMITS, type OAuthProviders, type Scope, type TaskId } from "../model/index.ts";
import type {
  AgentStorage,
  CallerCredentials,
  CredentialOwner,
  Encryption,
  Fetch,
  Lazy,
  Log,
} from "../ports/index.ts";
import {
  CredentialStore,
  type StoredCredential,
  toCredential,
  toStoredCredential,
} from "./credential-store.ts";
import { ProviderRejection, refreshTokens } from "./provider.ts";
import { createStateTokens, type StateTokens } from "./state-token.ts";

export interface CredentialParts {
  readonly storage: AgentStorage;
  readonly encryption: Encryption;
  readonly fetch: Fetch;
  readonly providers: OAuthProviders;
  readonly log: Log;
  readonly wallTime: () => number;
  /** The public base URL of this server; undefined: not known. */
  readonly base: Lazy<string | undefined>;
}

/** With the parts that the browser endpoints need. */
export interface OAuthServices extends CallerCredentials {
  readonly credentials: CredentialStore;
  readonly stateTokens: StateTokens;
  readonly providers: OAuthProviders;
}

/** The link for a browser, the OAuth redirect URI, and the endpoint for programs. */
export const START_PATH = "/oauth/start";
export const CALLBACK_PATH = "/oauth/callback";
export const CREDENTIALS_PATH = "/credentials";

/** A token that expires in transit is useless. */
const RENEW_BEFORE_MS = 60_000;

export function createOAuth(parts: CredentialParts): OAuthServices {
  const { providers, log, wallTime } = parts;
  const credentials = new CredentialStore(parts.storage, parts.encryption);
  const stateTokens = createStateTokens(parts.encryption);
  /** Refreshes under way: two at once would invalidate each other's refresh token. */
  const refreshes = new Map<string, Promise<StoredCredential | undefined>>();

  async function find(owner: CredentialOwner, name: string): Promise<StoredCredential | undefined> {
    try {
      return await credentials.get(owner, name);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn({ agent: owner.agent, name }, "credentials cannot be decrypted; they will be requested again");
      return undefined;
    }
  }

  function refresh(
    owner: CredentialOwner,
    name: string,
    stored: StoredCredential,
  ): Promise<StoredCredential | undefined> {
    const key = JSON.stringify([owner.scope.tenant, owner.scope.principal, owner.agent, name]);
    const running = refreshes.get(key);
    if (running) return running;
    const refreshing = refreshOnce(owner, name, stored).finally(() => refreshes.delete(key));
    refreshes.set(key, refreshing);
    return refreshing;
  }

  async function refreshOnce(
    owner: CredentialOwner,
    name: string,
    stored: StoredCredential,
  ): Promise<StoredCredential | undefined> {
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (!provider || stored.refreshToken === undefined) return expire(owner, name, stored);
    try {
      const tokens = await refreshTokens(toProviderParts(parts.fetch), provider, stored.refreshToken);
      const fresh = toStoredCredential(tokens, wallTime(), stored);
      await credentials.put(owner, name, fresh);
      return fresh;
    } catch (error) {
      if (error instanceof ProviderRejection) return expire(owner, name, stored);
      if (isValid(stored, wallTime())) return stored;
      throw new Error(`The credentials "${name}" could not be refreshed`, { cause: error });
    }
  }

  /** The credential cannot be refreshed: it is used until it expires, then deleted. */
  async function expire(
    owner: CredentialOwner,
    name: string,
    stored: StoredCredential,
  ): Promise<StoredCredential | undefined> {
    if (isValid(stored, wallTime())) return stored;
    // Another node may have refreshed it meanwhile, which made the refresh token of this node invalid.
    const current = await find(owner, name);
    if (current && isValid(current, wallTime())) return current;
    await credentials.remove(owner, name);
    return undefined;
  }

  return {
    credentials,
    stateTokens,
    providers,
    async get(owner, name) {
      const stored = await find(owner, name);
      const fresh =
        stored && !isValid(stored, wallTime() + RENEW_BEFORE_MS)
          ? await refresh(owner, name, stored)
          : stored;
      return fresh && toCredential(fresh);
    },
    async save(owner, { name, scheme }, given) {
      // All anonymous callers share one principal: the next one would use the credentials of this one.
      if (isAnonymous(owner.scope))
        throw new Fault("forbidden", "Credentials are stored only for authenticated callers");
      await credentials.put(owner, name, { scheme, given });
    },
    authorizationOptions({ scope, agent }, taskId, { name, scopes, messageId }) {
      const base = parts.base();
      if (base === undefined || isAnonymous(scope)) return {};
      const endpoint = `${base}${CREDENTIALS_PATH}`;
      if (!Object.hasOwn(providers, name)) return { endpoint };
      const { tenant, principal } = scope;
      const token = stateTokens.writeRequest({ tenant, principal, agent, taskId, messageId, name, scopes });
      return { endpoint, url: `${base}${START_PATH}?ask=${token}` };
    },
  };
}

const isValid = ({ expiresAt }: StoredCredential, at: number): boolean =>
  expiresAt === undefined || at < expiresAt;

export const toProviderParts = (fetch: Fetch) => ({
  fetch,
  waitMs: LIMITS.tokenWaitMs,
  bytesMax: LIMITS.tokenBytesMax,
});

/** Whether a task still waits for the authorization that this message asks for. */
export type IsWaiting = (scope: Scope, taskId: TaskId, messageId: string) => Promise<boolean>;
