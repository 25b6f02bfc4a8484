/** Servers that ask who calls, and callers that have tokens. */
import { randomBytes } from "node:crypto";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { issueToken } from "../../src/auth/issue-token.ts";
import { DEFAULT_PERMISSIONS, DEFAULT_TENANT, type Identity } from "../../src/model/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { createSqliteTokenStore } from "../../src/store/sqlite/token-store.ts";
import { serve, type TestServer, tempFolder } from "./server.ts";

export type TokenWish = Partial<Identity> & { readonly expiresAt?: number; readonly name?: string };
export interface Issued {
  readonly id: string;
  readonly secret: string;
  /** To be sent with every call. */
  readonly headers: { readonly authorization: string };
}

/** Makes a token in a data folder, as the command line does while a server runs. */
export async function issue(folder: string, principal: string, wish: TokenWish = {}): Promise<Issued> {
  const book = createSqliteTokenStore({ folder, now: Date.now });
  const chance = (bytes: number): string => randomBytes(bytes).toString("hex");
  const badge = { tenants: [DEFAULT_TENANT], grants: DEFAULT_PERMISSIONS, agents: undefined };
  const { secret, token } = await issueToken(
    { tokens: book, wallTime: Date.now, chance },
    { name: undefined, expiresAt: undefined, ...badge, ...wish, principal },
  );
  await book.close();
  return { id: token.id, secret, headers: bearer(secret) };
}

export const bearer = (secret: string): Issued["headers"] => ({ authorization: `Bearer ${secret}` });

export async function revoke(folder: string, id: string): Promise<void> {
  const book = createSqliteTokenStore({ folder, now: Date.now });
  await book.revoke(id, Date.now());
  await book.close();
}

export interface GuardedServer {
  readonly server: TestServer;
  readonly url: string;
  readonly folder: string;
  issue(principal: string, wish?: TokenWish): Promise<Issued>;
  revoke(id: string): Promise<void>;
  stop(): Promise<void>;
}

/** A server with `auth: ["tokens"]`, unless the settings say otherwise, in a folder of its own. */
export async function serveGuarded(
  definitions: readonly AgentDefinition[],
  settings: Partial<ServerSettings> = {},
): Promise<GuardedServer> {
  const folder = tempFolder();
  const server = await serve(definitions, { auth: ["tokens"], data: folder.path, ...settings });
  return {
    server,
    url: server.url,
    folder: folder.path,
    issue: (principal, wish) => issue(folder.path, principal, wish),
    revoke: id => revoke(folder.path, id),
    async stop() {
      await server.stop();
      folder.remove();
    },
  };
}
