/** Readers of members that several routes have. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { invalidField, readInteger, readObject, readString, readStrings } from "../protocol/shared/fields.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

export function readUuid(from: JsonObject, name: string): string | undefined {
  const value = readString(from, name, "");
  if (value === undefined || isUuid(value)) return value;
  throw invalidField(name, "must be a UUID");
}

export function readChoice<C extends string>(
  from: JsonObject,
  name: string,
  choices: readonly C[],
): C | undefined {
  const value = readString(from, name, "");
  if (value === undefined || choices.includes(value as C)) return value as C | undefined;
  throw invalidField(name, `must be one of ${choices.join(", ")}`);
}

/** Metadata and other free-form members; absent: empty. */
export const readJsonObject = (from: JsonObject, name: string): JsonObject =>
  readObject(from, name, "") ?? {};

export interface ListPage {
  readonly limit: number;
  readonly offset: number;
}

export const LIMIT_MAX = 1_000;
const OFFSET_MAX = 1_000_000;

export const readPage = (from: JsonObject, limit = 10): ListPage => ({
  limit: readInteger(from, "limit", "", { min: 1, max: LIMIT_MAX }) ?? limit,
  offset: readInteger(from, "offset", "", { min: 0, max: OFFSET_MAX }) ?? 0,
});

export const readSelect = (from: JsonObject): readonly string[] | undefined =>
  readStrings(from, "select", "");

/** Only these members; undefined: all. */
export function pick(value: object, select: readonly string[] | undefined): object {
  if (!select) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => select.includes(name)));
}

/** Whether the value has everything that is in the wanted one, as Postgres' @> does for objects. */
export function contains(value: Json | undefined, wanted: Json): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(value) && wanted.every(one => value.some((own: Json) => contains(own, one)));
  if (!isObject(wanted)) return value === wanted;
  return isObject(value) && Object.entries(wanted).every(([name, one]) => contains(value[name], one));
}

export function paginationHeaders({ limit, offset }: ListPage, total: number): Record<string, string> {
  const next = offset + limit;
  return {
    "X-Pagination-Total": String(total),
    ...(next < total && { "X-Pagination-Next": String(next) }),
  };
}

export const toIso = (ms: number): string => new Date(ms).toISOString();

/** As query parameters spell it. */
export function readFlag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)?.toLowerCase();
  return value === "1" || value === "true";
}
