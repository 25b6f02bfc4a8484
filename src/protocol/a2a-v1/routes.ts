import type { Headers, Route, WireCall } from "../../ports/index.ts";
import { bad, isObject, readText } from "../shared/read.ts";
import { endpointsOf, OLDER, PATHS, readRest, routesBelow } from "../shared/rest.ts";

const OWN: typeof PATHS = [...PATHS, ["GET", "/extendedAgentCard", "GetExtendedAgentCard"]];
/** A tenant that is called like the beginning of v0.3's paths: they are the same paths. */
const OF_V1_TENANT = routesBelow(OLDER, OWN);

/** v1 §11.3: every path, and the same below the name of a tenant. */
export const REST_ROUTES: readonly Route[] = [
  ...routesBelow("", OWN),
  ...routesBelow("/{tenant}", OWN),
  ...OF_V1_TENANT,
];

const V1_TENANT = endpointsOf(OF_V1_TENANT);
const SHARED = endpointsOf(routesBelow(OLDER, PATHS));

/** Whether it is a path of v0.3, too. */
export const isOlderPath = (endpoint: string): boolean => SHARED.has(endpoint);

/** The same call as JSON-RPC would have it. */
export function toMethodCall(call: WireCall): WireCall {
  const tenant = readTenant(call);
  const params = readRest(call);
  return { ...call, params: tenant === undefined ? params : { ...params, tenant } };
}

function readTenant(call: WireCall): string | undefined {
  const tenant = call.vars.tenant ?? (V1_TENANT.has(call.endpoint) ? OLDER.slice(1) : undefined);
  const said = isObject(call.params) ? readText(call.params, "tenant", "") : undefined;
  if (tenant !== undefined && said && said !== tenant) throw bad("tenant", "must be the one of the path");
  return tenant;
}

export const MEDIA_TYPE = "application/a2a+json";
export const OWN_TYPE = { "Content-Type": MEDIA_TYPE };

/** v1 §11.2: it should be this type. Those who know it say so; others get the one that edition 1.0.0 had. */
export const knowsOwnType = (headers: Headers): boolean =>
  headers["content-type"]?.includes(MEDIA_TYPE) === true || headers.accept?.includes(MEDIA_TYPE) === true;
