import type { JsonObject } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { AccessToken } from "../ports/index.ts";
import type { AdminRoute } from "./access.ts";
import type { TokenInfo } from "./api-server.ts";
import { invalidToken, readBody, readPageSize, reply } from "./parameters.ts";

export interface TokenRouteParts {
  readonly tokens: {
    list(): Promise<readonly AccessToken[]>;
    issue(request: JsonObject): Promise<{ readonly secret: string; readonly token: AccessToken }>;
    revoke(id: string): Promise<AccessToken | null>;
  };
}

export const createTokenAdminRoutes = ({ tokens }: TokenRouteParts): readonly AdminRoute[] => [
  {
    verb: "GET",
    path: "/tokens",
    needs: "operator",
    summary: "Access tokens without their secrets, the newest first",
    async serve({ query }) {
      const all = await tokens.list();
      const pageToken = query.get("pageToken");
      const start = pageToken ? all.findIndex(token => token.id === pageToken) + 1 : 0;
      if (pageToken && start === 0) throw invalidToken();
      const page = all.slice(start, start + readPageSize(query));
      const nextPageToken = start + page.length < all.length ? (page.at(-1)?.id ?? "") : "";
      return reply({ tokens: page.map(toInfo), nextPageToken });
    },
  },
  {
    verb: "POST",
    path: "/tokens",
    needs: "operator-act",
    summary: "Create a token; its secret is shown once",
    async serve(call) {
      const { permissions, ...request } = await readBody(call);
      const { secret, token } = await tokens.issue({
        ...request,
        ...(permissions !== undefined && { scopes: permissions }),
      });
      return reply({ secret, token: toInfo(token) }, 201);
    },
  },
  {
    verb: "DELETE",
    path: "/tokens/{id}",
    needs: "operator-act",
    summary: "Revoke a token",
    async serve({ vars }) {
      const token = await tokens.revoke(vars.id ?? "");
      if (!token) throw new Fault("task-not-found", "Token not found");
      return reply(toInfo(token));
    },
  },
];

const toInfo = (token: AccessToken): TokenInfo => ({
  id: token.id,
  name: token.name ?? null,
  principal: token.principal,
  tenants: token.tenants,
  agents: token.agents ?? null,
  permissions: token.grants,
  createdAt: token.createdAt,
  expiresAt: token.expiresAt ?? null,
  revokedAt: token.revokedAt ?? null,
  usedAt: token.usedAt ?? null,
});
