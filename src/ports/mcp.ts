import type { Json, JsonObject } from "../lib/json.ts";

/** A server of tools, as the Model Context Protocol has it. */
export interface McpServer {
  listTools(signal: AbortSignal): Promise<readonly McpTool[]>;
  callTool(name: string, input: JsonObject, signal: AbortSignal): Promise<McpResult>;
}
export interface McpTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of what it takes. */
  readonly inputSchema: JsonObject;
}
export interface McpResult {
  /** All text of it. */
  readonly text: string;
  /** What it says for programs, if it does. */
  readonly data: Json | undefined;
  /** As it came: text, images and the like. */
  readonly content: readonly JsonObject[];
  /** The tool did not do it; the text tells why. */
  readonly isError: boolean;
}
/** The servers that the config names. */
export type McpServers = (name: string) => Promise<McpServer>;
