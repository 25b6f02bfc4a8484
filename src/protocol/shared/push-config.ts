import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type NewPush, type PushAuthentication, type PushConfig } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";
import { at, bad, hasControl, member, readCount, readId, readObject, readText, readTexts } from "./read.ts";

/** Push configs as the official versions have them: v1.0 has one scheme, the versions before a list of them. */

/** The config of callers who have one for a task: it has no name for them, and a new one takes its place. */
export const ONLY = "default";

/** `origin`: the dialect in which it is set; `url`: what it calls the URL. */
export function readPush(
  call: WireCall,
  from: JsonObject,
  path: string,
  origin: string,
  url = "url",
): NewPush {
  return defined<NewPush>({
    id: readId(from, "id", path),
    url: readUrl(from, url, path),
    origin,
    events: readEvents(call, from, path),
    token: readSecret(from, "token", path),
    authentication: readAuthentication(from, path),
    secret: readSecret(from, "secret", path),
  });
}

/** Whether it may be reached is judged later: here it is only looked at. */
function readUrl(from: JsonObject, name: string, path: string): string {
  const text = readText(from, name, path);
  const field = at(path, name);
  if (!text) throw bad(field, "is required and must be the URL of a webhook");
  if (text.length > LIMITS.pushUrlCharsMax)
    throw bad(field, `must have at most ${LIMITS.pushUrlCharsMax} characters`);
  // What parses a URL drops ends of lines without a word.
  const url = hasControl(text) ? null : URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw bad(field, "must be an absolute URL that begins with https:// or http://");
  if (url.username !== "" || url.password !== "")
    throw bad(field, "must not hold a user or a password; give them as authentication");
  return text;
}

/** It becomes a part of a header, where only this much is safe. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** What only the caller and the webhook know. Empty is absent. */
export function readSecret(from: JsonObject, name: string, path: string): string | undefined {
  const text = readText(from, name, path);
  if (text === undefined || text === "") return undefined;
  if (text.length > LIMITS.pushSecretCharsMax)
    throw bad(at(path, name), `must have at most ${LIMITS.pushSecretCharsMax} characters`);
  if (!PRINTABLE.test(text)) throw bad(at(path, name), "must consist of printable ASCII characters");
  return text;
}

function readAuthentication(from: JsonObject, path: string): PushAuthentication | undefined {
  const said = readObject(from, "authentication", path);
  if (!said) return undefined;
  const own = at(path, "authentication");
  const schemes = readSchemes(said, own);
  const credentials = readSecret(said, "credentials", own);
  if (schemes.length === 0 && credentials !== undefined)
    throw bad(own, "must say with which scheme the credentials are sent, such as Bearer");
  return schemes.length === 0 ? undefined : defined<PushAuthentication>({ schemes, credentials });
}

function readSchemes(said: JsonObject, path: string): readonly string[] {
  const scheme = readText(said, "scheme", path);
  const schemes = readTexts(said, "schemes", path) ?? (scheme ? [scheme] : []);
  const field = at(path, scheme ? "scheme" : "schemes");
  return schemes.map(one => checkWord(one, field));
}

/** RFC 9110 §5.6.2: what schemes and headers are called. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

export function checkWord(text: string, field: string): string {
  if (TOKEN.test(text)) return text;
  throw bad(field, "must be one word of at most 64 letters, digits and signs such as -");
}

const EVENTS = ["all", "status"] as const;
/** For callers whose client writes nothing but what the protocol has. */
const EVENTS_HEADER = "Dragoman-Push-Events";

/** D7: a config may ask for changes of the status only. */
function readEvents(call: WireCall, from: JsonObject, path: string): PushConfig["events"] {
  const said = member(from, "events");
  const asked = said ?? call.headers[EVENTS_HEADER.toLowerCase()] ?? "all";
  const events = EVENTS.find(one => one === asked);
  if (events) return events;
  throw bad(said === undefined ? EVENTS_HEADER : at(path, "events"), 'must be "all" or "status"');
}

/** 0 is what a number is in ProtoJSON that nobody has set. */
export function readPaging(params: JsonObject): { readonly pageSize?: number; readonly pageToken?: string } {
  return defined({
    pageSize: readCount(params, "pageSize", "", { min: 0, max: LIMITS.pageSizeMax }) || undefined,
    pageToken: readText(params, "pageToken", "") || undefined,
  });
}

/** What all versions before 1.0 have. What goes beyond them is told to those who said it. */
export function writePush(config: PushConfig): JsonObject {
  const { url, token, authentication } = config;
  return defined<JsonObject>({
    url,
    token,
    authentication: authentication && writeAuthentication(authentication),
    ...writeMore(config),
  });
}

const writeAuthentication = ({ schemes, credentials }: PushAuthentication): JsonObject =>
  defined<JsonObject>({ schemes, credentials });

export const writeMore = ({ events, secret }: PushConfig): Readonly<Record<string, Json | undefined>> => ({
  events: events === "all" ? undefined : events,
  secret,
});
