/** The schemas of the structured options on authentication: from the form in a config to the form that auth/ uses. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { isAgentName, NAME_RULE } from "../agent/definition.ts";
import {
  type ApiKey,
  type CertificateOwner,
  DEFAULT_PERMISSIONS,
  DEFAULT_TENANT,
  isCallerName,
  type JwtIssuer,
  PERMISSIONS,
} from "../model/index.ts";
import type { OptionValues } from "./options/index.ts";

const toList = (value: unknown): unknown => (value === undefined || Array.isArray(value) ? value : [value]);
const oneOrMore = <T extends z.ZodType>(one: T) => z.preprocess(toList, z.array(one).min(1));
const isUnique = (list: readonly unknown[]): boolean => new Set(list).size === list.length;

const name = z.string().refine(isCallerName, "expected the name of a caller, without control characters");
const agent = z.string().refine(isAgentName, `expected an agent's name (${NAME_RULE})`);
const scopes = z.array(z.enum(PERMISSIONS)).default([...DEFAULT_PERMISSIONS]);
const tenants = z.preprocess(toList, z.array(name).min(1).default([DEFAULT_TENANT]));

const IDENTITY = {
  principal: name,
  tenant: tenants,
  scopes,
  agents: z.array(agent).min(1).optional(),
};
interface IdentityInput {
  readonly principal: string;
  readonly tenant: readonly string[];
  readonly scopes: ApiKey["grants"];
  readonly agents?: readonly string[] | undefined;
}
const toIdentity = ({ principal, tenant, scopes: grants, agents }: IdentityInput) => ({
  principal,
  tenants: tenant,
  grants,
  agents,
});

const HASH = /^[0-9a-f]{64}$/i;
const KEY_CHARS_MIN = 16;

/** The settings contain the hash only: a log of the settings does not show the key. */
const API_KEY = z
  .strictObject({
    key: z.string().min(KEY_CHARS_MIN).optional(),
    hash: z.string().regex(HASH, "expected the SHA-256 of a key, in hex").optional(),
    ...IDENTITY,
  })
  .refine(({ key, hash }) => (key === undefined) !== (hash === undefined), "expected either key or hash")
  .transform(
    ({ key, hash = "", ...identity }): ApiKey => ({
      ...toIdentity(identity),
      hash: key === undefined ? hash.toLowerCase() : createHash("sha256").update(key).digest("hex"),
    }),
  );

const CERTIFICATE = z
  .strictObject({
    fingerprint: z
      .string()
      .transform(text => text.replaceAll(":", "").toLowerCase())
      .refine(text => HASH.test(text), "expected the SHA-256 of a certificate, in hex")
      .optional(),
    commonName: z.string().min(1).optional(),
    ...IDENTITY,
  })
  .refine(
    ({ fingerprint, commonName }) => (fingerprint === undefined) !== (commonName === undefined),
    "expected either fingerprint or commonName",
  )
  .transform(
    ({ fingerprint, commonName, ...identity }): CertificateOwner => ({
      ...toIdentity(identity),
      fingerprint,
      commonName,
    }),
  );

/** Asymmetric only: with a shared secret, a server that can verify a token could also sign one. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
] as const;
const url = z.url({ protocol: /^https?$/ });
const claim = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const SKEW_SECONDS = 30;
const SKEW_SECONDS_MAX = 600;

const ISSUER = z
  .strictObject({
    issuer: url,
    jwksUrl: url.optional(),
    audience: oneOrMore(z.string().min(1)),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .default([...ALGORITHMS]),
    clockSkewSeconds: z.int().min(0).max(SKEW_SECONDS_MAX).default(SKEW_SECONDS),
    prefix: z.string().default(""),
    tenant: tenants,
    scopes,
    scopeNames: z.record(z.string(), z.enum(PERMISSIONS)).default({}),
    claims: z
      .strictObject({
        principal: claim.default("sub"),
        tenant: claim.optional(),
        scopes: claim.optional(),
        agents: claim.optional(),
      })
      .prefault({}),
  })
  .transform(
    ({ issuer, jwksUrl, audience, algorithms, clockSkewSeconds, ...rest }): JwtIssuer => ({
      issuer,
      jwksUrl,
      audience,
      algorithms,
      skewSeconds: clockSkewSeconds,
      claims: {
        principal: rest.claims.principal,
        prefix: rest.prefix,
        tenant: rest.claims.tenant,
        tenants: rest.tenant,
        scopes: rest.claims.scopes,
        grants: rest.scopes,
        scopeNames: rest.scopeNames,
        agents: rest.claims.agents,
      },
    }),
  );

const ISSUERS = oneOrMore(ISSUER)
  .refine(list => isUnique(list.map(({ issuer }) => issuer)), "expected each issuer once")
  .refine(
    list => isUnique(list.map(({ claims }) => claims.prefix)),
    "two issuers may have callers of the same name: give each of them a prefix of its own",
  );

const API_KEYS = z
  .array(API_KEY)
  .refine(keys => isUnique(keys.map(({ hash }) => hash)), "expected each key once");

type AccessOption = "apiKeys" | "jwt" | "clientCertificates";

export const ACCESS_SCHEMAS: { readonly [K in AccessOption]: z.ZodType<OptionValues[K]> } = {
  apiKeys: API_KEYS,
  jwt: ISSUERS,
  clientCertificates: z.array(CERTIFICATE).min(1),
};
