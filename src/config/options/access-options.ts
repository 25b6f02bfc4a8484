import {
  type ApiKey,
  AUTH_MODES,
  type AuthMode,
  type CertificateOwner,
  type ClaimName,
  type JwtIssuer,
  type Permission,
} from "../../model/index.ts";
import { boolean, file, list, listFromText, type Option, structured, text, toList } from "./option.ts";

/** The owner of credentials. */
interface IdentityConfig {
  readonly principal: string;
  /** Default: "default". */
  readonly tenant?: string | readonly string[] | undefined;
  /** Default: all but "admin". */
  readonly scopes?: readonly Permission[] | undefined;
  /** Default: all agents of the tenant. */
  readonly agents?: readonly string[] | undefined;
}
/** Either the key itself, or its SHA-256 in hex. */
export interface ApiKeyConfig extends IdentityConfig {
  readonly key?: string | undefined;
  readonly hash?: string | undefined;
}
/** Either the SHA-256 of the certificate in hex, or its common name. */
export interface CertificateConfig extends IdentityConfig {
  readonly fingerprint?: string | undefined;
  readonly commonName?: string | undefined;
}
/** A trusted issuer of tokens. A nested claim is given by its path: `["realm_access", "roles"]`. */
export interface JwtConfig extends Omit<IdentityConfig, "principal" | "agents"> {
  readonly issuer: string;
  /** The URL of its keys. Default: found by OpenID Connect Discovery. */
  readonly jwksUrl?: string | undefined;
  /** The audience that a token must have. */
  readonly audience: string | readonly string[];
  readonly algorithms?: readonly string[] | undefined;
  readonly clockSkewSeconds?: number | undefined;
  /** Prefix of the names of its callers; two issuers need two. */
  readonly prefix?: string | undefined;
  /** Its names for scopes: `{ "a2a.send": "send" }`. */
  readonly scopeNames?: Readonly<Record<string, Permission>> | undefined;
  /** The claims that contain the principal, the tenant, the scopes and the agents of a caller. */
  readonly claims?:
    | {
        readonly principal?: ClaimName | undefined;
        readonly tenant?: ClaimName | undefined;
        readonly scopes?: ClaimName | undefined;
        readonly agents?: ClaimName | undefined;
      }
    | undefined;
}

const METHODS = AUTH_MODES.filter(mode => mode !== "none");

const auth: Option<readonly AuthMode[], AuthMode | readonly AuthMode[]> = {
  help: `Authentication: none, or any of ${METHODS.join(", ")}`,
  expected: `"none", or a list of ${METHODS.map(mode => `"${mode}"`).join(", ")}`,
  default: ["none"],
  placeholder: "modes",
  isFlag: true,
  isSecret: false,
  isPath: false,
  fromText: listFromText,
  parse(value) {
    const modes = toList(value) as readonly AuthMode[];
    const isKnown = modes.length > 0 && modes.every(mode => AUTH_MODES.includes(mode));
    const isUnique = new Set(modes).size === modes.length;
    return isKnown && isUnique && (modes.length === 1 || !modes.includes("none")) ? modes : undefined;
  },
};

/** Browser extensions have origins with schemes of their own. */
const isOrigin = (text: string): boolean => text === "*" || /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(text);
const HOST = /^[\w.-]+$|^\[[\da-fA-F:.]+\]$/;

const origins = list({
  help: "Origins whose pages may call from a browser; *: all",
  default: undefined,
  expected: 'a list of origins such as "https://console.example", or "*"',
  isValid: isOrigin,
});
const cors = {
  ...origins,
  parse: value => (Array.isArray(value) && value.length === 0 ? undefined : origins.parse(toList(value))),
} as Option<readonly string[] | undefined, string | readonly string[]>;

export const ACCESS_OPTIONS = {
  auth,
  insecure: boolean({
    help: "Allow other machines to call although no authentication is required",
    default: false,
  }),
  authFile: file("Functions that authenticate and authorize callers (FILE:EXPORT), for `custom`"),
  apiKeys: structured<readonly ApiKey[] | undefined, readonly ApiKeyConfig[]>({
    help: "API keys and their owners, for `api-key`",
    isSecret: true,
    default: undefined,
    expected: "a list of { key or hash, principal, tenant, scopes, agents }",
  }),
  apiKeyHeader: text({
    help: "Header that carries an API key",
    default: "X-API-Key",
    placeholder: "name",
    expected: "the name of a header",
    isValid: name => /^[\w-]{1,64}$/.test(name),
  }),
  jwt: structured<readonly JwtIssuer[] | undefined, JwtConfig | readonly JwtConfig[]>({
    help: "Trusted issuers of JSON Web Tokens and the meaning of their claims, for `jwt`",
    default: undefined,
    expected: 'an object such as { issuer: "https://login.example", audience: "agents" }, or a list of them',
  }),
  tlsClientCa: file("Authority of client certificates (PEM file); clients are asked for a certificate"),
  clientCertificates: structured<readonly CertificateOwner[] | undefined, readonly CertificateConfig[]>({
    help: "Client certificates and their owners, for `mtls`",
    default: undefined,
    defaultText: "all of the authority, by common name",
    expected: "a list of { fingerprint or commonName, principal, tenant, scopes, agents }",
  }),
  cors,
  allowedHosts: list({
    help: "Further host names of this server: accepted on loopback, and signed in agent cards",
    default: undefined,
    expected: "a list of host names",
    isValid: host => HOST.test(host),
  }),
};
