import { isObject, type Json } from "../lib/json.ts";
import {
  type ClaimName,
  type ClaimRules,
  type Identity,
  isCallerName,
  PERMISSIONS,
  type Permission,
} from "../model/index.ts";
import { invalidCredentials } from "./bearer.ts";

type Claims = Readonly<Record<string, unknown>>;

export function toIdentity(claims: Claims, rules: ClaimRules): Identity {
  const principal = claimOf(claims, rules.principal);
  if (typeof principal !== "string") throw missing(rules.principal);
  return {
    principal: needName(rules.prefix + principal, rules.principal),
    tenants: rules.tenant === undefined ? rules.tenants : needTenants(claims, rules.tenant),
    grants: rules.scopes === undefined ? rules.grants : grantsOf(claims, rules.scopes, rules.scopeNames),
    agents: rules.agents === undefined ? undefined : agentsOf(claims, rules.agents),
  };
}

function needTenants(claims: Claims, name: ClaimName): readonly string[] {
  const tenants = listOf(claimOf(claims, name));
  if (!tenants || tenants.length === 0) throw missing(name);
  return tenants.map(tenant => needName(tenant, name));
}

function needName(text: string, name: ClaimName): string {
  if (isCallerName(text)) return text;
  throw invalidCredentials(`Invalid token claim ${show(name)}: not a valid name`);
}

/** RFC 8693 §4.2: scopes separated by spaces; some issuers send a list. */
function grantsOf(claims: Claims, name: ClaimName, words: ClaimRules["scopeNames"]): readonly Permission[] {
  const value = claimOf(claims, name);
  const scopes = typeof value === "string" ? value.split(" ") : (listOf(value) ?? []);
  return PERMISSIONS.filter(grant =>
    scopes.some(word => word === grant || (Object.hasOwn(words, word) && words[word] === grant)),
  );
}

/** A token without agents may call none; `*` is all agents of the tenant. */
function agentsOf(claims: Claims, name: ClaimName): readonly string[] | undefined {
  const agents = listOf(claimOf(claims, name)) ?? [];
  return agents.includes("*") ? undefined : agents;
}

function listOf(value: unknown): readonly string[] | undefined {
  const list = typeof value === "string" ? [value] : value;
  return Array.isArray(list) && list.every(one => typeof one === "string") ? list : undefined;
}

function claimOf(claims: Claims, name: ClaimName): unknown {
  let value: unknown = claims;
  for (const part of typeof name === "string" ? [name] : name) {
    if (!isObject(value as Json) || !Object.hasOwn(value as object, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

const show = (name: ClaimName): string => (typeof name === "string" ? name : name.join("."));
const missing = (name: ClaimName) => invalidCredentials(`Missing token claim: ${show(name)}`);
