import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import {
  DEFAULT_PERMISSIONS,
  DEFAULT_TENANT,
  Fault,
  isCallerName,
  LIMITS,
  PERMISSIONS,
  type Permission,
} from "../model/index.ts";
import type { AccessToken, Endpoint, EndpointResponse } from "../ports/index.ts";
import { type IssueParts, issueToken, type NewTokenRequest, toTokenJson } from "./issue-token.ts";

/** Administration of tokens over HTTP; on the command line: `dragoman token`. */
export function createTokenRoutes(parts: IssueParts): readonly Endpoint[] {
  const { tokens, wallTime } = parts;
  return [
    {
      verb: "GET",
      path: "/admin/tokens",
      serve: async ({ query }) => toResponse(200, toPage(await tokens.list(), query.get("pageToken"))),
    },
    {
      verb: "POST",
      path: "/admin/tokens",
      async serve(call) {
        const made = await issueToken(parts, readTokenRequest(parse(await call.body()), wallTime()));
        return toResponse(201, { token: made.secret, ...toTokenJson(made.token) });
      },
    },
    {
      verb: "DELETE",
      path: "/admin/tokens/{id}",
      async serve({ vars }) {
        const token = await tokens.revoke(vars.id ?? "", wallTime());
        if (token) return toResponse(200, toTokenJson(token));
        return toResponse(404, {
          error: { code: 404, status: "NOT_FOUND", message: "Token not found" },
        });
      },
    },
  ];
}

/** `pageToken`: the id of the last token on the page before. */
function toPage(all: readonly AccessToken[], pageToken: string | null): JsonObject {
  const start = pageToken ? all.findIndex(token => token.id === pageToken) + 1 : 0;
  if (pageToken && start === 0) throw bad("pageToken", "must be a nextPageToken of an earlier page");
  const page = all.slice(start, start + LIMITS.tokensPageMax);
  const nextPageToken = start + page.length < all.length ? (page.at(-1)?.id ?? "") : "";
  return { tokens: page.map(toTokenJson), nextPageToken };
}

const toResponse = (status: number, json: JsonObject): EndpointResponse => ({
  status,
  headers: {},
  text: JSON.stringify(json),
});

export function readTokenRequest(json: JsonObject, now: number): NewTokenRequest {
  const { principal, name, expiresInSeconds } = json;
  if (typeof principal !== "string" || !isCallerName(principal))
    throw bad("principal", "must be a valid name");
  if (name !== undefined && (typeof name !== "string" || name.length > LIMITS.idCharsMax))
    throw bad("name", `must be a string of at most ${LIMITS.idCharsMax} characters`);
  if (expiresInSeconds !== undefined && !isLifetime(expiresInSeconds))
    throw bad("expiresInSeconds", `must be a number from 1 to ${LIFETIME_SECONDS_MAX}`);
  return {
    principal,
    name,
    tenants: readList(json, "tenants", isCallerName) ?? [DEFAULT_TENANT],
    agents: readList(json, "agents", agent => agent !== ""),
    grants:
      (readList(json, "scopes", isPermission) as readonly Permission[] | undefined) ?? DEFAULT_PERMISSIONS,
    expiresAt: expiresInSeconds === undefined ? undefined : now + Math.round(expiresInSeconds * 1_000),
  };
}

/** A hundred years. */
const LIFETIME_SECONDS_MAX = 3_155_760_000;
const isLifetime = (seconds: Json): seconds is number =>
  typeof seconds === "number" && seconds >= 1 && seconds <= LIFETIME_SECONDS_MAX;

function parse(body: string): JsonObject {
  try {
    const json = JSON.parse(body) as Json;
    if (isObject(json)) return json;
  } catch {
    throw new Fault("parse", "The body is not JSON");
  }
  throw bad("body", "must be a JSON object");
}

const isPermission = (text: string): boolean => PERMISSIONS.some(permission => permission === text);

function readList(
  json: JsonObject,
  name: string,
  is: (text: string) => boolean,
): readonly string[] | undefined {
  const list = json[name];
  if (list === undefined) return undefined;
  const isList = Array.isArray(list) && list.length > 0 && list.length <= LIMITS.listEntriesMax;
  if (isList && list.every(one => typeof one === "string" && is(one))) return list as readonly string[];
  const among = name === "scopes" ? ` among ${PERMISSIONS.join(", ")}` : "";
  throw bad(name, `must be a list of 1 to ${LIMITS.listEntriesMax} names${among}`);
}

const bad = (field: string, expected: string): Fault =>
  new Fault("invalid-params", `${field} ${expected}`, { field });
