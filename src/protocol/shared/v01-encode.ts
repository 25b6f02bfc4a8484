import type { Json, JsonObject } from "../../lib/json.ts";
import type { Artifact, Part, PushConfig, Task, TaskId } from "../../model/index.ts";
import { encodePushConfig } from "./push-config.ts";
import type { DataRule } from "./v01-decode.ts";
import { encodeV03Part, toMetadataWithExtras, withMetadata } from "./v03-encode.ts";

/** Results in the shape of v0.1, which Orloj shares: parts have a `type`, artifacts an index instead of an id. */

/** The id that the caller chose for the task, else the id of the server. */
export const getCallerTaskId = (task: Task): string => task.alias ?? task.id;

export const encodeV01Parts = (parts: readonly Part[], allowsData: DataRule): readonly JsonObject[] =>
  parts.map(part => encodeV01Part(part, allowsData));

/** Data that the protocol does not allow is wrapped, as in v0.3. */
function encodeV01Part(part: Part, allowsData: DataRule): JsonObject {
  if (part.kind === "data" && allowsData(part.data))
    return withMetadata({ type: "data", data: part.data }, toMetadataWithExtras(part));
  const { kind, ...rest } = encodeV03Part(part);
  return { type: kind as Json, ...rest };
}

/** The index of an artifact is its position in the task; it never changes. */
export const findArtifactIndex = (task: Task, artifactId: string): number =>
  task.artifacts.findLastIndex(one => one.artifactId === artifactId);

export function encodeV01Artifact(
  artifact: Artifact,
  index: number,
  allowsData: DataRule,
): Record<string, Json> {
  const out: Record<string, Json> = {};
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = encodeV01Parts(artifact.parts, allowsData);
  out.index = index;
  return out;
}

/** `taskId`: the id that the caller used, which may be an alias. */
export const encodeV01Push = ({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject => ({
  id: taskId,
  pushNotificationConfig: encodePushConfig(config),
});
