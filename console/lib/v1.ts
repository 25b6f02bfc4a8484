import type { Json, JsonObject } from "../../src/lib/json.ts";

/** Values of A2A 1.0, as far as the console reads and writes them. */

export interface V1Part {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: Json;
  readonly filename?: string;
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
}
export interface V1Message {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly V1Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly metadata?: JsonObject;
}
export interface V1Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly V1Part[];
}
export interface V1Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: V1Message; readonly timestamp?: string };
  readonly history?: readonly V1Message[];
  readonly artifacts?: readonly V1Artifact[];
}
export interface V1Answer {
  readonly task?: V1Task;
  readonly message?: V1Message;
}
