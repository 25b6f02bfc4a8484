import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import type { Step, Task } from "../../model/index.ts";
import type { Page } from "../../ports/index.ts";
import * as kind from "../shared/kind-write.ts";

/** What an agent says without a name for it: "response" inside, by these words on this mount. */
const RESPONSE = "Assistant Response";

const named = (artifact: Json): Json =>
  isObject(artifact) && artifact.name === "response" ? { ...artifact, name: RESPONSE } : artifact;

export function writeTask(task: Task): JsonObject {
  return withNames(kind.writeTask(task));
}

export function writePage(page: Page): JsonObject {
  return { ...kind.writePage(page), tasks: page.tasks.map(writeTask) };
}

export function writeStep(step: Step, closing: boolean): JsonObject | null {
  const said = kind.writeStep(step, closing);
  return said && withNames(said);
}

/** A task has `artifacts`, a piece of one `artifact`; nothing else has a name. */
function withNames(said: JsonObject): JsonObject {
  const { artifact, artifacts } = said;
  if (artifact !== undefined) return { ...said, artifact: named(artifact) };
  return Array.isArray(artifacts) ? { ...said, artifacts: artifacts.map(named) } : said;
}
