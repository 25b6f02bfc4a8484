import type { JsonObject } from "../lib/json.ts";
import {
  type ApiKey,
  type AuthMode,
  type CertificateOwner,
  DEFAULT_PERMISSIONS,
  type JwtIssuer,
  PERMISSIONS,
  type Permission,
} from "../model/index.ts";
import type {
  AccessToken,
  Authenticator,
  AuthMethod,
  Catalog,
  Endpoint,
  Fetch,
  TokenStore,
} from "../ports/index.ts";
import { adminOnly } from "./admin-only.ts";
import { createAnonymousAuthenticator } from "./anonymous.ts";
import { createApiKeyAuth } from "./api-key-auth.ts";
import { createAuthenticator } from "./authenticator.ts";
import { type CustomAuthParts, createCustomAuth } from "./custom-auth.ts";
import { type IssueParts, issueToken } from "./issue-token.ts";
import { createJwtAuth } from "./jwt-auth.ts";
import { createMtlsAuth } from "./mtls-auth.ts";
import { createTokenAuth } from "./token-auth.ts";
import { createTokenRoutes, readTokenRequest } from "./token-routes.ts";

export { adminOnly } from "./admin-only.ts";

export interface AuthSettings {
  readonly auth: readonly AuthMode[];
  readonly apiKeys: readonly ApiKey[] | undefined;
  readonly apiKeyHeader: string;
  readonly jwt: readonly JwtIssuer[] | undefined;
  readonly clientCertificates: readonly CertificateOwner[] | undefined;
  readonly authFile: string | undefined;
}

export interface AuthParts extends AuthSettings {
  readonly catalog: Catalog;
  /** undefined: this server issues no tokens. */
  readonly tokens: TokenStore | undefined;
  readonly fetch: Fetch;
  /** Tokens expire by it. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** So many random bytes as lower-case hex. */
  readonly randomHex: (bytes: number) => string;
  /** The functions of the mode `custom`. */
  readonly custom?: Omit<CustomAuthParts, "ticks"> | undefined;
  /** Further methods, tried first. */
  readonly methods: readonly AuthMethod[];
  /** Only this machine can connect. */
  readonly isLocal: boolean;
  /** undefined: the operator did not choose. */
  readonly console: "off" | "read" | "on" | undefined;
}

/** The authenticator that the settings ask for, and the endpoints that administer its tokens. */
export function createAuth(parts: AuthParts): {
  readonly authenticator: Authenticator;
  readonly endpoints: readonly Endpoint[];
  /** undefined: this server issues no tokens. */
  readonly tokens: TokenAdmin | undefined;
} {
  const { auth, tokens, catalog } = parts;
  if (!tokens && auth.includes("tokens")) throw new Error("auth mode tokens without a token store");
  if (auth.includes("none")) {
    const grants = parts.isLocal
      ? PERMISSIONS
      : [...DEFAULT_PERMISSIONS, ...CONSOLE_GRANTS[parts.console ?? "off"]];
    return {
      authenticator: createAnonymousAuthenticator({ catalog, grants }),
      endpoints: [],
      tokens: undefined,
    };
  }
  const authenticator = createAuthenticator({
    methods: [...parts.methods, ...auth.map(mode => createAuthMethod(mode, parts))],
    catalog,
  });
  const routes = tokens ? createTokenRoutes({ ...parts, tokens }) : [];
  return {
    authenticator,
    endpoints: routes.map(route => adminOnly(route, authenticator)),
    tokens: tokens && createTokenAdmin({ ...parts, tokens }),
  };
}

/** Administration of tokens, for the admin API. */
export interface TokenAdmin {
  list(): Promise<readonly AccessToken[]>;
  /** `request`: as in `POST /admin/tokens`; a Fault if it is not valid. */
  issue(request: JsonObject): Promise<{ readonly secret: string; readonly token: AccessToken }>;
  /** null: not found. */
  revoke(id: string): Promise<AccessToken | null>;
}

const createTokenAdmin = (parts: IssueParts): TokenAdmin => ({
  list: () => parts.tokens.list(),
  issue: async request => issueToken(parts, readTokenRequest(request, parts.wallTime())),
  revoke: id => parts.tokens.revoke(id, parts.wallTime()),
});

/** Permissions of callers without authentication, if other machines can connect and the operator chose a console. */
const CONSOLE_GRANTS: Readonly<Record<"off" | "read" | "on", readonly Permission[]>> = {
  off: [],
  read: ["console:read"],
  on: ["console:read", "console:act"],
};

function createAuthMethod(mode: AuthMode, parts: AuthParts): AuthMethod {
  switch (mode) {
    case "tokens":
      return createTokenAuth({ tokens: parts.tokens as TokenStore, wallTime: parts.wallTime });
    case "jwt":
      return createJwtAuth({ ...parts, issuers: parts.jwt ?? [] });
    case "api-key":
      return createApiKeyAuth({ keys: parts.apiKeys ?? [], header: parts.apiKeyHeader });
    case "mtls":
      return createMtlsAuth({ owners: parts.clientCertificates });
    case "custom": {
      if (!parts.custom) throw new Error("auth mode custom without functions");
      const { auth, cache, allowsStudio } = parts.custom;
      return createCustomAuth({
        auth,
        cache,
        ticks: parts.ticks,
        allowsStudio: allowsStudio && parts.isLocal,
      });
    }
    case "none":
      throw new Error("the mode none has no authentication method");
  }
}
