import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Credential } from "../model/index.ts";
import type { AgentStorage, CredentialOwner, Encryption, StorageArea } from "../ports/index.ts";
import type { Tokens } from "./provider.ts";

/** What is kept under a name. */
export interface Kept {
  readonly scheme: string;
  /** What the agent gets. */
  readonly given: JsonObject;
  /** What the agent does not get: it is for this server and the provider. */
  readonly refreshToken?: string;
  readonly expiresAt?: number;
}

/** No context can be called so. */
const SHELF = "@credentials";

/** Where credentials lie, by caller, agent and name: nobody can read them there without the server's key. */
export class Safe {
  readonly #shelf: AgentStorage;
  readonly #vault: Encryption;

  constructor(shelf: AgentStorage, vault: Encryption) {
    this.#shelf = shelf;
    this.#vault = vault;
  }

  /** A Fault if it can no longer be opened. */
  async get(owner: CredentialOwner, name: string): Promise<Kept | undefined> {
    const sealed = await this.#shelf.get(placeOf(owner), name);
    if (typeof sealed !== "string") return undefined;
    const kept = JSON.parse(this.#vault.decrypt(sealed)) as Json;
    return isObject(kept) ? (kept as unknown as Kept) : undefined;
  }

  async put(owner: CredentialOwner, name: string, kept: Kept): Promise<void> {
    const value = this.#vault.encrypt(JSON.stringify(kept));
    await this.#shelf.put(placeOf(owner), [{ key: name, value }]);
  }

  async remove(owner: CredentialOwner, name: string): Promise<void> {
    const place = placeOf(owner);
    if ((await this.#shelf.get(place, name)) === undefined) return;
    await this.#shelf.put(place, [{ key: name, value: undefined }]);
  }

  async names(owner: CredentialOwner, max: number): Promise<readonly string[]> {
    return (await this.#shelf.list(placeOf(owner), { prefix: "", max })).map(({ key }) => key);
  }
}

const placeOf = ({ scope, agent }: CredentialOwner): StorageArea => ({ scope, agent, area: SHELF });

/** `before`: what a provider does not say again still holds. */
export function toKept(tokens: Tokens, now: number, before?: Kept): Kept {
  const { accessToken, tokenType, scopes, expiresInMs } = tokens;
  const refreshToken = tokens.refreshToken ?? before?.refreshToken;
  const known = scopes ?? before?.given.scopes;
  return {
    scheme: "oauth2",
    given: { accessToken, tokenType, ...(known !== undefined && { scopes: known as Json }) },
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresInMs !== undefined && { expiresAt: now + expiresInMs }),
  };
}

export const toCredential = ({ scheme, given, expiresAt }: Kept): Credential => ({
  ...given,
  scheme,
  ...(expiresAt !== undefined && { expiresAt }),
});
