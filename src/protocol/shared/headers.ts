import { isObject, type Json } from "../../lib/json.ts";
import { BEGINNING, type Seq } from "../../model/index.ts";
import type { ReplyContext, WireCall } from "../../ports/index.ts";
import { AFTER_SEQUENCE, readInteger } from "./fields.ts";

/** The request headers that all protocols share: version, extensions, and the point where a stream resumes. */

// ---- A2A-Version ---------------------------------------------------------------------------------------------

export type Version = "1.0" | "0.3" | "0.2" | "0.1";
/** The versions of the official protocol that this server supports. */
export const SUPPORTED_VERSIONS: readonly Version[] = ["1.0", "0.3", "0.2", "0.1"];

/** The version as the caller wrote it: header, else query parameter. Empty is the same as absent. */
export function readVersionText(call: ReplyContext): string | undefined {
  return (call.headers["a2a-version"] ?? call.query.get("A2A-Version"))?.trim() || undefined;
}

/** The requested version: a patch number is ignored, `1` is `1.0`. `"unknown"`: a version that is not supported. */
export function readVersion(call: ReplyContext): Version | "unknown" | undefined {
  const text = readVersionText(call);
  // The spellings of the official clients need no parsing.
  if (text === undefined || text === "1.0" || text === "0.3") return text;
  const found = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.\d{1,9})?$/.exec(text);
  const version = found && `${Number(found[1])}.${Number(found[2] ?? 0)}`;
  return SUPPORTED_VERSIONS.find(one => one === version) ?? "unknown";
}

// ---- A2A-Extensions ------------------------------------------------------------------------------------------

/** The extensions that the caller requests; v0.3 spells the header with an X. */
export function readExtensions(call: ReplyContext): readonly string[] {
  const { headers } = call;
  const text = headers["a2a-extensions"] ?? headers["x-a2a-extensions"];
  return text === undefined
    ? []
    : text
        .split(",")
        .map(uri => uri.trim())
        .filter(uri => uri !== "");
}

/** Response headers of the versions before 1.0: the version and the active extensions. */
export function createReplyHeaders(
  version: Version,
): (call: ReplyContext, active: readonly string[]) => Readonly<Record<string, string>> {
  const headers = { "A2A-Version": version };
  return (_call, active) =>
    active.length > 0 ? { ...headers, "X-A2A-Extensions": active.join(", ") } : headers;
}

// ---- Last-Event-ID -------------------------------------------------------------------------------------------

/**
 * The last event that the client has: the header Last-Event-ID (WHATWG HTML §9.2), where anything but a number is
 * ignored, else `afterSequence` in the metadata of the parameters or of the envelope.
 */
export function readLastEventId(call: WireCall): Seq | "snapshot" {
  const after = readLastEventIdHeader(call);
  if (after !== undefined) return after;
  const metadata = isObject(call.params) ? call.params.metadata : undefined;
  return readAfterSequence(metadata) ?? readAfterSequence(call.metadata) ?? "snapshot";
}

export function readLastEventIdHeader({ headers }: ReplyContext): Seq | undefined {
  const value = headers["last-event-id"]?.trim();
  if (value === undefined || !/^\d{1,15}$/.test(value)) return undefined;
  return Math.max(BEGINNING, Number(value)) as Seq;
}

function readAfterSequence(metadata: Json | undefined): Seq | undefined {
  if (!isObject(metadata)) return undefined;
  return readInteger(metadata, AFTER_SEQUENCE, "metadata", { min: BEGINNING, max: 2 ** 31 - 1 }) as
    | Seq
    | undefined;
}

/** For protocols whose streams have no snapshot: without a point to resume from, every event is replayed. */
export function readLastEventIdOrBeginning(call: WireCall): Seq | "beginning" {
  const from = readLastEventId(call);
  return from === "snapshot" ? "beginning" : from;
}

/** For streams that begin with a message: the point counts if the call is a retry of an earlier one. */
export function readResumePoint(call: WireCall): { readonly from?: Seq } {
  const from = readLastEventId(call);
  return from === "snapshot" ? NO_RESUME_POINT : { from };
}
const NO_RESUME_POINT = {};
