import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Credential } from "../model/index.ts";
import type { AgentStorage, CredentialOwner, Encryption, StorageArea } from "../ports/index.ts";
import type { ProviderTokens } from "./provider.ts";

/** A credential as it is stored. */
export interface StoredCredential {
  readonly scheme: string;
  /** The part that the agent gets. */
  readonly given: JsonObject;
  /** For this server and the provider only. */
  readonly refreshToken?: string;
  readonly expiresAt?: number;
}

/** Not a valid context id, so no context can have it. */
const AREA = "@credentials";

/** Credentials by caller, agent and name, encrypted with the key of the server. */
export class CredentialStore {
  readonly #storage: AgentStorage;
  readonly #encryption: Encryption;

  constructor(storage: AgentStorage, encryption: Encryption) {
    this.#storage = storage;
    this.#encryption = encryption;
  }

  /** A Fault if it cannot be decrypted. */
  async get(owner: CredentialOwner, name: string): Promise<StoredCredential | undefined> {
    const encrypted = await this.#storage.get(areaOf(owner), name);
    if (typeof encrypted !== "string") return undefined;
    const stored = JSON.parse(this.#encryption.decrypt(encrypted)) as Json;
    return isObject(stored) ? (stored as unknown as StoredCredential) : undefined;
  }

  async put(owner: CredentialOwner, name: string, credential: StoredCredential): Promise<void> {
    const value = this.#encryption.encrypt(JSON.stringify(credential));
    await this.#storage.put(areaOf(owner), [{ key: name, value }]);
  }

  async remove(owner: CredentialOwner, name: string): Promise<void> {
    const area = areaOf(owner);
    if ((await this.#storage.get(area, name)) === undefined) return;
    await this.#storage.put(area, [{ key: name, value: undefined }]);
  }

  async names(owner: CredentialOwner, max: number): Promise<readonly string[]> {
    return (await this.#storage.list(areaOf(owner), { prefix: "", max })).map(({ key }) => key);
  }
}

const areaOf = ({ scope, agent }: CredentialOwner): StorageArea => ({ scope, agent, area: AREA });

/** `before`: its refresh token and scopes still hold if the provider does not repeat them. */
export function toStoredCredential(
  tokens: ProviderTokens,
  now: number,
  before?: StoredCredential,
): StoredCredential {
  const { accessToken, tokenType, scopes, expiresInMs } = tokens;
  const refreshToken = tokens.refreshToken ?? before?.refreshToken;
  const granted = scopes ?? before?.given.scopes;
  return {
    scheme: "oauth2",
    given: { accessToken, tokenType, ...(granted !== undefined && { scopes: granted as Json }) },
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresInMs !== undefined && { expiresAt: now + expiresInMs }),
  };
}

export const toCredential = ({ scheme, given, expiresAt }: StoredCredential): Credential => ({
  ...given,
  scheme,
  ...(expiresAt !== undefined && { expiresAt }),
});
