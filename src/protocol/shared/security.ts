import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { SecurityScheme } from "../../model/index.ts";

/** How callers say who they are, as each generation of cards tells it. Nothing is said where nobody is asked. */

type Schemes = readonly SecurityScheme[];
type Write = (scheme: SecurityScheme) => JsonObject;

const byName = (schemes: Schemes, write: Write): JsonObject =>
  Object.fromEntries(schemes.map(scheme => [scheme.name, write(scheme)]));

/** v1 §4.5: what it is, is told from outside. */
function writeV1(scheme: SecurityScheme): JsonObject {
  const { description } = scheme;
  switch (scheme.kind) {
    case "bearer": {
      const { format: bearerFormat } = scheme;
      return { httpAuthSecurityScheme: defined({ description, scheme: "Bearer", bearerFormat }) };
    }
    case "api-key":
      return { apiKeySecurityScheme: defined({ description, location: "header", name: scheme.header }) };
    case "oidc":
      return { openIdConnectSecurityScheme: defined({ description, openIdConnectUrl: scheme.url }) };
    case "mutual-tls":
      // Some readers take an empty object for nothing at all.
      return { mtlsSecurityScheme: { description: description ?? "A client certificate" } };
  }
}

/** v0.3 §5.5.3, as OpenAPI has it: what it is, is told inside. */
function writeV03(scheme: SecurityScheme): JsonObject {
  const { description } = scheme;
  switch (scheme.kind) {
    case "bearer": {
      const { format: bearerFormat } = scheme;
      return defined({ type: "http", description, scheme: "Bearer", bearerFormat });
    }
    case "api-key":
      return defined({ type: "apiKey", description, in: "header", name: scheme.header });
    case "oidc":
      return defined({ type: "openIdConnect", description, openIdConnectUrl: scheme.url });
    case "mutual-tls":
      return defined({ type: "mutualTLS", description });
  }
}

const requirementsV1 = (schemes: Schemes): Json =>
  schemes.map(({ name }) => ({ schemes: { [name]: { list: [] } } }));
const requirementsV03 = (schemes: Schemes): Json => schemes.map(({ name }) => ({ [name]: [] }));

/** Any one of them is enough: each is a requirement of its own. */
export function writeSecurityV1(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return { securitySchemes: byName(schemes, writeV1), securityRequirements: requirementsV1(schemes) };
}

export function writeSecurityV03(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return { securitySchemes: byName(schemes, writeV03), security: requirementsV03(schemes) };
}

/** In v0.3's definition it is what v1.0 made of it, under the older name. */
export function writeSecurityProto03(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return { securitySchemes: byName(schemes, writeV1), security: requirementsV1(schemes) };
}

/** Both generations call the map by the same name: an entry says it in both ways, and each finds its own. */
export function writeSecurityHybrid(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return {
    securitySchemes: byName(schemes, scheme => ({ ...writeV03(scheme), ...writeV1(scheme) })),
    security: requirementsV03(schemes),
    securityRequirements: requirementsV1(schemes),
  };
}

/** v0.1 knows the names of HTTP's own schemes, and no more. What an OpenID provider issues is sent as Bearer. */
const WORDS: Readonly<Record<SecurityScheme["kind"], string>> = {
  bearer: "Bearer",
  oidc: "Bearer",
  "api-key": "ApiKey",
  "mutual-tls": "MutualTLS",
};

export const writeSecurityV01 = (schemes: Schemes): JsonObject => ({
  authentication: { schemes: [...new Set(schemes.map(({ kind }) => WORDS[kind]))] },
});
