import { expect, test } from "vitest";
import type { SecurityScheme } from "../../model/index.ts";
import {
  writeSecurityHybrid,
  writeSecurityProto03,
  writeSecurityV1,
  writeSecurityV01,
  writeSecurityV03,
} from "./security.ts";

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
const OF_V1 = NAMES.map(name => ({ schemes: { [name]: { list: [] } } }));
const OF_V03 = NAMES.map(name => ({ [name]: [] }));

test("v1.0 tells from outside what a scheme is, and any one of them is enough", () => {
  expect(writeSecurityV1(SCHEMES)).toEqual({ securitySchemes: V1, securityRequirements: OF_V1 });
});

test("v0.3 tells it inside; its definition as v1.0 does", () => {
  expect(writeSecurityV03(SCHEMES)).toEqual({ securitySchemes: V03, security: OF_V03 });
  expect(writeSecurityProto03(SCHEMES)).toEqual({ securitySchemes: V1, security: OF_V1 });
});

test("a card that is both tells it in both ways", () => {
  const { securitySchemes, ...rest } = writeSecurityHybrid(SCHEMES);
  expect(securitySchemes).toMatchObject(V1);
  for (const name of ["token", "jwt", "key", "login"])
    expect((securitySchemes as typeof V03)[name as "token"]).toMatchObject(V03[name as "token"]);
  expect(rest).toEqual({ security: OF_V03, securityRequirements: OF_V1 });
});

test("v0.1 has words for them, each once", () => {
  expect(writeSecurityV01(SCHEMES)).toEqual({
    authentication: { schemes: ["Bearer", "ApiKey", "MutualTLS"] },
  });
});

test("where nobody is asked, nothing is said; only v0.1 says that there is nothing", () => {
  expect([
    writeSecurityV1([]),
    writeSecurityV03([]),
    writeSecurityHybrid([]),
    writeSecurityProto03([]),
  ]).toEqual([{}, {}, {}, {}]);
  expect(writeSecurityV01([])).toEqual({ authentication: { schemes: [] } });
});
