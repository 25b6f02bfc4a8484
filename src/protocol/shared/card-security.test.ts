import { expect, test } from "vitest";
import type { SecurityScheme } from "../../model/index.ts";
import {
  encodeSecurityHybrid,
  encodeSecurityV1,
  encodeSecurityV01,
  encodeSecurityV03,
  encodeSecurityV03Proto,
} from "./card-security.ts";

const SCHEMES: readonly SecurityScheme[] = [
  { kind: "bearer", name: "token", description: "A token" },
  { kind: "bearer", name: "jwt", format: "JWT" },
  { kind: "api-key", name: "key", header: "X-API-Key" },
  { kind: "oidc", name: "login", url: "https://id.example/.well-known/openid-configuration" },
  { kind: "mutual-tls", name: "certificate" },
];
const url = "https://id.example/.well-known/openid-configuration";
const V1 = {
  token: { httpAuthSecurityScheme: { description: "A token", scheme: "Bearer" } },
  jwt: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
  key: { apiKeySecurityScheme: { location: "header", name: "X-API-Key" } },
  login: { openIdConnectSecurityScheme: { openIdConnectUrl: url } },
  certificate: { mtlsSecurityScheme: { description: "A client certificate" } },
};
const V03 = {
  token: { type: "http", description: "A token", scheme: "Bearer" },
  jwt: { type: "http", scheme: "Bearer", bearerFormat: "JWT" },
  key: { type: "apiKey", in: "header", name: "X-API-Key" },
  login: { type: "openIdConnect", openIdConnectUrl: url },
  certificate: { type: "mutualTLS" },
};
const NAMES = Object.keys(V1);
const REQUIREMENTS_V1 = NAMES.map(name => ({ schemes: { [name]: { list: [] } } }));
const REQUIREMENTS_V03 = NAMES.map(name => ({ [name]: [] }));

test("v1.0: the member name is the kind of scheme, and each scheme is a requirement of its own", () => {
  expect(encodeSecurityV1(SCHEMES)).toEqual({ securitySchemes: V1, securityRequirements: REQUIREMENTS_V1 });
});

test("v0.3: the member type is the kind of scheme; its a2a.proto has the shapes of v1.0", () => {
  expect(encodeSecurityV03(SCHEMES)).toEqual({ securitySchemes: V03, security: REQUIREMENTS_V03 });
  expect(encodeSecurityV03Proto(SCHEMES)).toEqual({ securitySchemes: V1, security: REQUIREMENTS_V1 });
});

test("hybrid: each entry has the members of both versions", () => {
  const { securitySchemes, ...rest } = encodeSecurityHybrid(SCHEMES);
  expect(securitySchemes).toMatchObject(V1);
  for (const name of ["token", "jwt", "key", "login"])
    expect((securitySchemes as typeof V03)[name as "token"]).toMatchObject(V03[name as "token"]);
  expect(rest).toEqual({ security: REQUIREMENTS_V03, securityRequirements: REQUIREMENTS_V1 });
});

test("v0.1: the names of HTTP schemes, without duplicates", () => {
  expect(encodeSecurityV01(SCHEMES)).toEqual({
    authentication: { schemes: ["Bearer", "ApiKey", "MutualTLS"] },
  });
});

test("without authentication the members are absent; v0.1 has an empty list", () => {
  expect([
    encodeSecurityV1([]),
    encodeSecurityV03([]),
    encodeSecurityHybrid([]),
    encodeSecurityV03Proto([]),
  ]).toEqual([{}, {}, {}, {}]);
  expect(encodeSecurityV01([])).toEqual({ authentication: { schemes: [] } });
});
