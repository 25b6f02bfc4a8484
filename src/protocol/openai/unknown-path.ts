import type { JsonObject } from "../../lib/json.ts";
import type { Dialect } from "../../ports/index.ts";
import { ROUTES as ARBITER } from "../arbiter/routes.ts";
import { ROUTES as ORLOJ } from "../orloj/routes.ts";
import { DIALECT } from "./routes.ts";

/** Below the base URLs: the first name of the path, as far as a colon. */
const BELOW_BASE = /^(?:\/agents\/[^/]+)?\/v1(?:\/([^/:]*)|$)/;

/**
 * The error body for a path that has no route, if it is one of the OpenAI API. Other dialects have paths below the same base
 * URLs: a path that begins like one of theirs stays theirs, and those of vendors also while their dialects are off.
 */
export function createUnknownPathBody(
  dialects: readonly Dialect[],
): (verb: string, path: string) => JsonObject | undefined {
  const isOn = dialects.some(({ name }) => name === DIALECT);
  const others = dialects.filter(({ name }) => name !== DIALECT).flatMap(({ routes }) => routes);
  const taken = new Set([...others, ...ARBITER.on, ...ORLOJ].map(({ path }) => BELOW_BASE.exec(path)?.[1]));
  return (verb, path) => {
    const match = isOn ? BELOW_BASE.exec(path) : null;
    if (!match || (match[1] !== undefined && taken.has(match[1]))) return undefined;
    const message = `Unknown request URL: ${verb} ${path}. This server has models, chat/completions and responses`;
    return { error: { message, type: "invalid_request_error", param: null, code: "unknown_url" } };
  };
}
