import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import type { Step, Task } from "../../model/index.ts";
import type { Operation, OperationResult, Page } from "../../ports/index.ts";
import { encodeCardV03 } from "../shared/card.ts";
import {
  encodeV03Message,
  encodeV03Page,
  encodeV03Push,
  encodeV03Step,
  encodeV03Task,
} from "../shared/v03-encode.ts";

/** LangGraph's name for the artifact that is "response" in all other protocols. */
const RESPONSE = "Assistant Response";

export function encodeTask(task: Task): JsonObject {
  return renameResponse(encodeV03Task(task));
}

function encodePage(page: Page): JsonObject {
  return { ...encodeV03Page(page), tasks: page.tasks.map(encodeTask) };
}

export function encodeStep(step: Step, closing: boolean): JsonObject | null {
  const encoded = encodeV03Step(step, closing);
  return encoded && renameResponse(encoded);
}

/** A task has `artifacts`, an artifact update has `artifact`. */
function renameResponse(encoded: JsonObject): JsonObject {
  const { artifact, artifacts } = encoded;
  if (artifact !== undefined) return { ...encoded, artifact: renameArtifact(artifact) };
  return Array.isArray(artifacts) ? { ...encoded, artifacts: artifacts.map(renameArtifact) } : encoded;
}

const renameArtifact = (artifact: Json): Json =>
  isObject(artifact) && artifact.name === "response" ? { ...artifact, name: RESPONSE } : artifact;

export function encodeResult(operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "task":
      return encodeTask(result.task);
    case "message":
      return encodeV03Message(result.message);
    case "page":
      return encodePage(result.page);
    case "card": {
      // The URL has the name or the id that the caller used: clients compare them.
      const name = encodeURIComponent(operation.agent ?? result.agent.name);
      return encodeCardV03(result, `${result.base}/a2a/${name}`);
    }
    case "push":
    case "pushes":
    case "nothing":
      return encodeV03Push(result);
    case "agents":
      throw new Error("LangGraph cannot encode a list of agents");
  }
}
