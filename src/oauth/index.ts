/** What callers gave to agents, so that these can act for them elsewhere: kept sealed, renewed, and asked for in a browser. */
import { Fault, isAnonymous, LIMITS, type OAuthProviders, type Scope, type TaskId } from "../model/index.ts";
import type {
  AgentStorage,
  CredentialOwner,
  Credentials,
  Encryption,
  Fetch,
  Lazy,
  Log,
} from "../ports/index.ts";
import { type Kept, Safe, toCredential, toKept } from "./credential-store.ts";
import { renewTokens, TokenRefusal } from "./provider.ts";
import { createSlips, type Slips } from "./state-token.ts";

export interface CredentialParts {
  readonly shelf: AgentStorage;
  readonly vault: Encryption;
  readonly fetch: Fetch;
  readonly providers: OAuthProviders;
  readonly log: Log;
  readonly wallTime: () => number;
  /** Under which callers reach this server; undefined: not known. */
  readonly base: Lazy<string | undefined>;
}

/** The same with what the pages need. */
export interface CredentialDesk extends Credentials {
  readonly safe: Safe;
  readonly slips: Slips;
  readonly providers: OAuthProviders;
}

/** Where a person begins, and where a provider sends him back to; where a program gives credentials. */
export const START_PATH = "/oauth/start";
export const CALLBACK_PATH = "/oauth/callback";
export const CREDENTIALS_PATH = "/credentials";

/** A token that ends while it is on its way is of no use. */
const SOON_MS = 60_000;

export function createCredentials(parts: CredentialParts): CredentialDesk {
  const { providers, log, wallTime } = parts;
  const safe = new Safe(parts.shelf, parts.vault);
  const slips = createSlips(parts.vault);
  /** Two who renew the same thing at once would make each other's result worthless. */
  const renewals = new Map<string, Promise<Kept | undefined>>();

  async function open(owner: CredentialOwner, name: string): Promise<Kept | undefined> {
    try {
      return await safe.get(owner, name);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn({ agent: owner.agent, name }, "credentials can no longer be opened; they are asked for anew");
      return undefined;
    }
  }

  function renew(owner: CredentialOwner, name: string, kept: Kept): Promise<Kept | undefined> {
    const key = JSON.stringify([owner.scope.tenant, owner.scope.principal, owner.agent, name]);
    const running = renewals.get(key);
    if (running) return running;
    const renewal = renewOnce(owner, name, kept).finally(() => renewals.delete(key));
    renewals.set(key, renewal);
    return renewal;
  }

  async function renewOnce(owner: CredentialOwner, name: string, kept: Kept): Promise<Kept | undefined> {
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (!provider || kept.refreshToken === undefined) return lapse(owner, name, kept);
    try {
      const tokens = await renewTokens(tokenParts(parts.fetch), provider, kept.refreshToken);
      const fresh = toKept(tokens, wallTime(), kept);
      await safe.put(owner, name, fresh);
      return fresh;
    } catch (error) {
      if (error instanceof TokenRefusal) return lapse(owner, name, kept);
      if (isGood(kept, wallTime())) return kept;
      throw new Error(`The credentials "${name}" could not be renewed`, { cause: error });
    }
  }

  /** It has ended, and nothing can be done about it but to ask again. */
  async function lapse(owner: CredentialOwner, name: string, kept: Kept): Promise<Kept | undefined> {
    if (isGood(kept, wallTime())) return kept;
    // Another node may have renewed it in the meantime, and made what this one had worthless.
    const current = await open(owner, name);
    if (current && isGood(current, wallTime())) return current;
    await safe.remove(owner, name);
    return undefined;
  }

  return {
    safe,
    slips,
    providers,
    async get(owner, name) {
      const kept = await open(owner, name);
      const fresh = kept && !isGood(kept, wallTime() + SOON_MS) ? await renew(owner, name, kept) : kept;
      return fresh && toCredential(fresh);
    },
    async save(owner, { name, scheme }, given) {
      // All strangers are one caller: what one of them gives, the next would use.
      if (isAnonymous(owner.scope))
        throw new Fault("forbidden", "Credentials are kept only for callers who say who they are");
      await safe.put(owner, name, { scheme, given });
    },
    authorizationOptions({ scope, agent }, taskId, { name, scopes, messageId }) {
      const base = parts.base();
      if (base === undefined || isAnonymous(scope)) return {};
      const endpoint = `${base}${CREDENTIALS_PATH}`;
      if (!Object.hasOwn(providers, name)) return { endpoint };
      const { tenant, principal } = scope;
      const slip = slips.writeAsk({ tenant, principal, agent, taskId, messageId, name, scopes });
      return { endpoint, url: `${base}${START_PATH}?ask=${slip}` };
    },
  };
}

const isGood = ({ expiresAt }: Kept, at: number): boolean => expiresAt === undefined || at < expiresAt;

export const tokenParts = (fetch: Fetch) => ({
  fetch,
  waitMs: LIMITS.tokenWaitMs,
  bytesMax: LIMITS.tokenBytesMax,
});

/** Whether a task still waits for what is asked there. */
export type Waits = (scope: Scope, taskId: TaskId, messageId: string) => Promise<boolean>;
