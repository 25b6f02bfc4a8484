import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { NewPush, PushAuthentication, PushConfig, TaskId } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";
import {
  checkWord,
  ONLY,
  readPush as readOfficialPush,
  readSecret,
  writePush as writeOfficialPush,
} from "../shared/push-config.ts";
import { bad, member, readObject, readText } from "../shared/read.ts";

/** A task has one config. Its members have names of their own; those of v0.1 are understood as well. */
export function readPush(call: WireCall, from: JsonObject, path: string): NewPush {
  const isOfficial = member(from, "webhookUrl") === undefined && member(from, "url") !== undefined;
  const url = isOfficial ? "url" : "webhookUrl";
  const { authentication, ...push } = readOfficialPush(call, from, path, "simple", url);
  return defined<NewPush>({ ...push, id: ONLY, authentication: readInfo(from, path) ?? authentication });
}

/** With these the name of the scheme goes before the value; with all others the value goes alone. */
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ["bearer", "Bearer"],
  ["token", "Token"],
]);
const ALONE = "value";

function readInfo(from: JsonObject, path: string): PushAuthentication | undefined {
  const said = readObject(from, "authenticationInfo", path);
  if (!said) return undefined;
  const own = `${path}.authenticationInfo`;
  const scheme = readText(said, "scheme", own);
  if (!scheme) throw bad(`${own}.scheme`, "is required");
  const known = SCHEMES.get(checkWord(scheme, `${own}.scheme`).toLowerCase());
  return defined<PushAuthentication>({
    schemes: known === undefined ? [] : [known],
    credentials: readSecret(said, "value", own),
    header: readHeader(said, own),
  });
}

function readHeader(said: JsonObject, path: string): string | undefined {
  const name = readText(said, "headerName", path);
  return name ? checkWord(name, `${path}.headerName`) : undefined;
}

export function writePush({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject {
  const { url, authentication: _, ...more } = writeOfficialPush(config);
  const { authentication } = config;
  const pushNotificationConfig = defined<JsonObject>({
    webhookUrl: url as Json,
    authenticationInfo: authentication && writeInfo(authentication),
    ...more,
  });
  return { id: taskId, pushNotificationConfig };
}

const writeInfo = ({ schemes: [scheme = ALONE], credentials, header }: PushAuthentication): JsonObject =>
  defined<JsonObject>({ scheme: scheme.toLowerCase(), value: credentials, headerName: header });
