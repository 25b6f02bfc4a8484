import type { Json, JsonObject } from "../../lib/json.ts";
import type { Artifact, Part, Task } from "../../model/index.ts";
import { extrasOf, withMetadata, writePart as writeKindPart } from "./kind-write.ts";
import type { Carries } from "./type-read.ts";

/** What is written in the shape that v0.1 has, and the dialects that grew from it: parts tell their `type`, artifacts are numbered. */

/** Callers know a task by the id that they gave to it. */
export const idOf = (task: Task): string => task.alias ?? task.id;

export const writeParts = (parts: readonly Part[], carries: Carries): readonly JsonObject[] =>
  parts.map(part => writePart(part, carries));

/** Data that the dialect cannot carry as it is travels wrapped, as in v0.3. */
function writePart(part: Part, carries: Carries): JsonObject {
  if (part.kind === "data" && carries(part.data))
    return withMetadata({ type: "data", data: part.data }, extrasOf(part));
  const { kind, ...said } = writeKindPart(part);
  return { type: kind as Json, ...said };
}

/** The number of an artifact is its place among those of the task: there it stays. */
export const indexOf = (task: Task, artifactId: string): number =>
  task.artifacts.findLastIndex(one => one.artifactId === artifactId);

export function writeArtifact(artifact: Artifact, index: number, carries: Carries): Record<string, Json> {
  const out: Record<string, Json> = {};
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = writeParts(artifact.parts, carries);
  out.index = index;
  return out;
}
