import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { SecurityScheme } from "../../model/index.ts";

/** The security schemes of an agent card, in the shape of each version. Without authentication they are absent. */

type Schemes = readonly SecurityScheme[];

const byName = (schemes: Schemes, encode: (scheme: SecurityScheme) => JsonObject): JsonObject =>
  Object.fromEntries(schemes.map(scheme => [scheme.name, encode(scheme)]));

/** v1 §4.5: the member name is the kind of scheme. */
function encodeSchemeV1(scheme: SecurityScheme): JsonObject {
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
      // Some clients treat an empty object as absent.
      return { mtlsSecurityScheme: { description: description ?? "A client certificate" } };
  }
}

/** v0.3 §5.5.3: as in OpenAPI, `type` is the kind of scheme. */
function encodeSchemeV03(scheme: SecurityScheme): JsonObject {
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

const toRequirementsV1 = (schemes: Schemes): Json =>
  schemes.map(({ name }) => ({ schemes: { [name]: { list: [] } } }));
const toRequirementsV03 = (schemes: Schemes): Json => schemes.map(({ name }) => ({ [name]: [] }));

/** Any one scheme is enough: each is a requirement of its own. */
export function encodeSecurityV1(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return {
    securitySchemes: byName(schemes, encodeSchemeV1),
    securityRequirements: toRequirementsV1(schemes),
  };
}

export function encodeSecurityV03(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return { securitySchemes: byName(schemes, encodeSchemeV03), security: toRequirementsV03(schemes) };
}

/** The a2a.proto of v0.3 has the shapes of v1.0 under the names of v0.3. */
export function encodeSecurityV03Proto(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return { securitySchemes: byName(schemes, encodeSchemeV1), security: toRequirementsV1(schemes) };
}

/** The map has the same name in both versions: each entry has the members of both. */
export function encodeSecurityHybrid(schemes: Schemes): JsonObject {
  if (schemes.length === 0) return {};
  return {
    securitySchemes: byName(schemes, scheme => ({ ...encodeSchemeV03(scheme), ...encodeSchemeV1(scheme) })),
    security: toRequirementsV03(schemes),
    securityRequirements: toRequirementsV1(schemes),
  };
}

/** v0.1 has names of HTTP schemes only. Tokens of an OpenID provider are sent as Bearer. */
const V01_SCHEMES: Readonly<Record<SecurityScheme["kind"], string>> = {
  bearer: "Bearer",
  oidc: "Bearer",
  "api-key": "ApiKey",
  "mutual-tls": "MutualTLS",
};

export const encodeSecurityV01 = (schemes: Schemes): JsonObject => ({
  authentication: { schemes: [...new Set(schemes.map(({ kind }) => V01_SCHEMES[kind]))] },
});
