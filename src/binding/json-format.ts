import { toJsonLine } from "../lib/json.ts";
import type { BodyFormat } from "../ports/index.ts";

export const JSON_FORMAT: BodyFormat<string> = {
  encode: value => JSON.stringify(value),
  encodeFrame: value => toJsonLine(value),
};
