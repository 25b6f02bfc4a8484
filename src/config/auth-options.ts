/** Options on who may call, and from where. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { isAgentName, NAME_RULE } from "../agent/definition.ts";
import {
  type ApiKey,
  AUTH_MODES,
  type AuthMode,
  type CertificateOwner,
  type ClaimName,
  DEFAULT_PERMISSIONS,
  DEFAULT_TENANT,
  isCallerName,
  type JwtIssuer,
  PERMISSIONS,
  type Permission,
} from "../model/index.ts";
import { asJson, asList, asText, asTruth, file, type Option } from "./option.ts";

export interface AccessOptions {
  readonly auth: readonly AuthMode[];
  readonly insecure: boolean;
  readonly apiKeys: readonly ApiKey[] | undefined;
  readonly apiKeyHeader: string;
  readonly jwt: readonly JwtIssuer[] | undefined;
  readonly tlsClientCa: string | undefined;
  readonly clientCertificates: readonly CertificateOwner[] | undefined;
  /** Origins, or "*" alone. undefined: browsers keep the pages of others out. */
  readonly cors: readonly string[] | undefined;
  readonly allowedHosts: readonly string[] | undefined;
}

/** As it is written in a config file. */
export interface AccessConfig {
  readonly auth?: AuthMode | readonly AuthMode[] | undefined;
  readonly apiKeys?: readonly ApiKeyConfig[] | undefined;
  readonly jwt?: JwtConfig | readonly JwtConfig[] | undefined;
  readonly clientCertificates?: readonly CertificateConfig[] | undefined;
  readonly cors?: string | readonly string[] | undefined;
}

/** Whom credentials stand for. */
interface BadgeConfig {
  readonly principal: string;
  /** Default: "default". */
  readonly tenant?: string | readonly string[] | undefined;
  /** Default: all but "admin". */
  readonly scopes?: readonly Permission[] | undefined;
  /** Default: all that the tenant has. */
  readonly agents?: readonly string[] | undefined;
}
/** Either the key itself, or its SHA-256 in hex. */
export interface ApiKeyConfig extends BadgeConfig {
  readonly key?: string | undefined;
  readonly hash?: string | undefined;
}
/** Either the SHA-256 of the certificate in hex, or the name in it. */
export interface CertificateConfig extends BadgeConfig {
  readonly fingerprint?: string | undefined;
  readonly commonName?: string | undefined;
}
/** Whose signed tokens are taken. A claim inside others is given as the way to it: `["realm_access", "roles"]`. */
export interface JwtConfig extends Omit<BadgeConfig, "principal" | "agents"> {
  readonly issuer: string;
  /** Where its keys are; else the issuer is asked (OpenID Connect Discovery). */
  readonly jwksUrl?: string | undefined;
  /** For whom a token must be. */
  readonly audience: string | readonly string[];
  readonly algorithms?: readonly string[] | undefined;
  readonly clockSkewSeconds?: number | undefined;
  /** Stands before the names of its callers; two issuers need two. */
  readonly prefix?: string | undefined;
  /** Its words for scopes: `{ "a2a.send": "send" }`. */
  readonly scopeNames?: Readonly<Record<string, Permission>> | undefined;
  /** The claims that say who calls, of which tenant, with which scopes and for which agents. */
  readonly claims?:
    | {
        readonly principal?: ClaimName | undefined;
        readonly tenant?: ClaimName | undefined;
        readonly scopes?: ClaimName | undefined;
        readonly agents?: ClaimName | undefined;
      }
    | undefined;
}

const asMany = (value: unknown): unknown => (value === undefined || Array.isArray(value) ? value : [value]);
const oneOrMore = <T extends z.ZodType>(one: T) => z.preprocess(asMany, z.array(one).min(1));
const isUnique = (list: readonly unknown[]): boolean => new Set(list).size === list.length;

const name = z.string().refine(isCallerName, "expected the name of a caller, without control characters");
const agent = z.string().refine(isAgentName, `expected an agent's name (${NAME_RULE})`);
const scopes = z.array(z.enum(PERMISSIONS)).default([...DEFAULT_PERMISSIONS]);
const tenants = z.preprocess(asMany, z.array(name).min(1).default([DEFAULT_TENANT]));

/** Whom credentials stand for. */
const BADGE = {
  principal: name,
  tenant: tenants,
  scopes,
  agents: z.array(agent).min(1).optional(),
};
interface Given {
  readonly principal: string;
  readonly tenant: readonly string[];
  readonly scopes: ApiKey["grants"];
  readonly agents?: readonly string[] | undefined;
}
const toBadge = ({ principal, tenant, scopes: grants, agents }: Given) => ({
  principal,
  tenants: tenant,
  grants,
  agents,
});

const HASH = /^[0-9a-f]{64}$/i;
const KEY_CHARS_MIN = 16;

/** The key itself is not kept: whoever sees the settings sees its hash. */
const API_KEY = z
  .strictObject({
    key: z.string().min(KEY_CHARS_MIN).optional(),
    hash: z.string().regex(HASH, "expected the SHA-256 of a key, in hex").optional(),
    ...BADGE,
  })
  .refine(({ key, hash }) => (key === undefined) !== (hash === undefined), "expected either key or hash")
  .transform(
    ({ key, hash = "", ...badge }): ApiKey => ({
      ...toBadge(badge),
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
    ...BADGE,
  })
  .refine(
    ({ fingerprint, commonName }) => (fingerprint === undefined) !== (commonName === undefined),
    "expected either fingerprint or commonName",
  )
  .transform(
    ({ fingerprint, commonName, ...badge }): CertificateOwner => ({
      ...toBadge(badge),
      fingerprint,
      commonName,
    }),
  );

/** Only with keys of which the public half is enough to check: what can check can else sign. */
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
        words: rest.scopeNames,
        agents: rest.claims.agents,
      },
    }),
  );

const ISSUERS = oneOrMore(ISSUER)
  .refine(list => isUnique(list.map(one => one.issuer)), "expected each issuer once")
  .refine(
    list => isUnique(list.map(one => one.claims.prefix)),
    "two issuers may have callers of the same name: give each of them a prefix of its own",
  );

/** Those of extensions of browsers have schemes of their own. */
const ORIGIN = z.string().refine(text => text === "*" || /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(text));
const HOST = /^[\w.-]+$|^\[[\da-fA-F:.]+\]$/;

export const ACCESS_OPTIONS: { readonly [K in keyof AccessOptions]: Option<AccessOptions[K]> } = {
  auth: {
    about: "How callers show who they are; several: any of them",
    expected: `"none", or a list of ${AUTH_MODES.slice(1)
      .map(mode => `"${mode}"`)
      .join(", ")}`,
    schema: oneOrMore(z.enum(AUTH_MODES)).refine(
      modes => isUnique(modes) && (modes.length === 1 || !modes.includes("none")),
    ) as unknown as z.ZodType<readonly AuthMode[]>,
    fallback: ["none"],
    fromText: asList,
  },
  insecure: {
    about: "Serve other machines although everybody may call",
    expected: "true or false",
    schema: z.boolean(),
    fallback: false,
    fromText: asTruth,
  },
  apiKeys: {
    about: "The keys of `api-key`, and whose they are",
    secret: true,
    expected: "a list of { key or hash, principal, tenant, scopes, agents }",
    schema: z
      .array(API_KEY)
      .refine(keys => isUnique(keys.map(key => key.hash)), "expected each key once") as unknown as z.ZodType<
      readonly ApiKey[]
    >,
    fallback: undefined,
    fromText: asJson,
  },
  apiKeyHeader: {
    about: "The header of `api-key`",
    expected: "the name of a header",
    schema: z.string().regex(/^[\w-]{1,64}$/),
    fallback: "X-API-Key",
    fromText: asText,
  },
  jwt: {
    about: "Whose signed tokens `jwt` takes, and how they are read",
    expected: 'an object such as { issuer: "https://login.example", audience: "agents" }, or a list of them',
    schema: ISSUERS as unknown as z.ZodType<readonly JwtIssuer[]>,
    fallback: undefined,
    fromText: asJson,
  },
  tlsClientCa: file("The authority of callers' certificates, in PEM form: callers are asked for one"),
  clientCertificates: {
    about: "Whose certificates `mtls` takes; else all of the authority, by the name in them",
    expected: "a list of { fingerprint or commonName, principal, tenant, scopes, agents }",
    schema: z.array(CERTIFICATE).min(1) as unknown as z.ZodType<readonly CertificateOwner[]>,
    fallback: undefined,
    fromText: asJson,
  },
  cors: {
    about: "Pages that may call from a browser",
    expected: 'a list of origins such as "https://console.example", or "*"',
    schema: oneOrMore(ORIGIN) as unknown as z.ZodType<readonly string[]>,
    fallback: undefined,
    fromText: asList,
  },
  allowedHosts: {
    about:
      "Names of this server beside its own: one on loopback may be called by them, and cards are signed for them",
    expected: "a list of host names",
    schema: z.array(z.string().regex(HOST)),
    fallback: undefined,
    fromText: asList,
  },
};
