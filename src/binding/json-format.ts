import type { BodyFormat } from "../ports/index.ts";

export const JSON_FORMAT: BodyFormat<string> = {
  encode: value => JSON.stringify(value),
  encodeFrame: value => toOneLine(JSON.stringify(value)),
};

/** An event of a stream is one line. JSON may contain U+2028 and U+2029, which some clients read as line ends. */
export function toOneLine(json: string): string {
  return /[\u2028\u2029]/.test(json)
    ? json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : json;
}
