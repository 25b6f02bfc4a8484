import {
  type ApiKey,
  type AuthMode,
  type CertificateOwner,
  DEFAULT_PERMISSIONS,
  type JwtIssuer,
  PERMISSIONS,
} from "../model/index.ts";
import type { Authenticator, AuthMethod, Catalog, Endpoint, Fetch, TokenStore } from "../ports/index.ts";
import { onlyAdmin } from "./admin-only.ts";
import { createAnonymousGuard } from "./anonymous.ts";
import { createApiKeyProof } from "./api-key-auth.ts";
import { createGuard } from "./authenticator.ts";
import { createJwtProof } from "./jwt-auth.ts";
import { createMtlsProof } from "./mtls-auth.ts";
import { createTokenProof } from "./token-auth.ts";
import { createTokenRoutes } from "./token-routes.ts";

export { onlyAdmin } from "./admin-only.ts";

export interface AccessSettings {
  readonly auth: readonly AuthMode[];
  readonly apiKeys: readonly ApiKey[] | undefined;
  readonly apiKeyHeader: string;
  readonly jwt: readonly JwtIssuer[] | undefined;
  readonly clientCertificates: readonly CertificateOwner[] | undefined;
}

export interface AccessParts extends AccessSettings {
  readonly catalog: Catalog;
  /** undefined: no tokens are given out. */
  readonly book: TokenStore | undefined;
  readonly fetch: Fetch;
  /** Tokens expire by it. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** That many bytes of chance, as lower-case hex. */
  readonly chance: (bytes: number) => string;
  /** Only whoever sits at this machine can call. */
  readonly isLocal: boolean;
}

/** Who may come in, and what administrators can do about it. */
export function createAccess(parts: AccessParts): {
  readonly guard: Authenticator;
  readonly own: readonly Endpoint[];
} {
  const { auth, book, catalog } = parts;
  if (!book && auth.includes("tokens")) throw new Error("tokens without a book");
  if (auth.includes("none")) {
    const grants = parts.isLocal ? PERMISSIONS : DEFAULT_PERMISSIONS;
    return { guard: createAnonymousGuard({ catalog, grants }), own: [] };
  }
  const guard = createGuard({ proofs: auth.map(mode => createProof(mode, parts)), catalog });
  const routes = book ? createTokenRoutes({ ...parts, book }) : [];
  return { guard, own: routes.map(own => onlyAdmin(own, guard)) };
}

function createProof(mode: AuthMode, parts: AccessParts): AuthMethod {
  switch (mode) {
    case "tokens":
      return createTokenProof({ book: parts.book as TokenStore, wallTime: parts.wallTime });
    case "jwt":
      return createJwtProof({ ...parts, issuers: parts.jwt ?? [] });
    case "api-key":
      return createApiKeyProof({ keys: parts.apiKeys ?? [], header: parts.apiKeyHeader });
    case "mtls":
      return createMtlsProof({ owners: parts.clientCertificates });
    case "none":
      throw new Error("who takes everybody needs no proof");
  }
}
