/** Servers with authentication, and callers with tokens. */
import { randomBytes } from "node:crypto";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { issueToken } from "../../src/auth/issue-token.ts";
import { DEFAULT_PERMISSIONS, DEFAULT_TENANT, type Identity } from "../../src/model/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { createSqliteTokenStore } from "../../src/store/sqlite/token-store.ts";
import { serve, type TestServer, tempFolder } from "./server.ts";

export type TokenOptions = Partial<Identity> & { readonly expiresAt?: number; readonly name?: string };
export interface Issued {
  readonly id: string;
  readonly secret: string;
  /** Sent with every call. */
  readonly headers: { readonly authorization: string };
}

/** Creates a token in a data folder, as the command line does while a server runs. */
export async function issue(folder: string, principal: string, options: TokenOptions = {}): Promise<Issued> {
  const tokens = createSqliteTokenStore({ folder, now: Date.now });
  const randomHex = (bytes: number): string => randomBytes(bytes).toString("hex");
  const identity = { tenants: [DEFAULT_TENANT], grants: DEFAULT_PERMISSIONS, agents: undefined };
  const { secret, token } = await issueToken(
    { tokens, wallTime: Date.now, randomHex },
    { name: undefined, expiresAt: undefined, ...identity, ...options, principal },
  );
  await tokens.close();
  return { id: token.id, secret, headers: bearer(secret) };
}

export const bearer = (secret: string): Issued["headers"] => ({ authorization: `Bearer ${secret}` });

export async function revoke(folder: string, id: string): Promise<void> {
  const tokens = createSqliteTokenStore({ folder, now: Date.now });
  await tokens.revoke(id, Date.now());
  await tokens.close();
}

export interface GuardedServer {
  readonly server: TestServer;
  readonly url: string;
  readonly folder: string;
  issue(principal: string, options?: TokenOptions): Promise<Issued>;
  revoke(id: string): Promise<void>;
  stop(): Promise<void>;
}

/** A server with `auth: ["tokens"]` by default, in its own folder. */
export async function serveGuarded(
  definitions: readonly AgentDefinition[],
  settings: Partial<ServerSettings> = {},
): Promise<GuardedServer> {
  const folder = tempFolder();
  const server = await serve(definitions, { auth: ["tokens"], data: folder.path, v11: "on", ...settings });
  return {
    server,
    url: server.url,
    folder: folder.path,
    issue: (principal, options) => issue(folder.path, principal, options),
    revoke: id => revoke(folder.path, id),
    async stop() {
      await server.stop();
      folder.remove();
    },
  };
}
