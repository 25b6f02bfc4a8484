import type { Json, JsonObject } from "../lib/json.ts";

/** A server of the Model Context Protocol whose tools agents use. */
export interface McpServer {
  listTools(signal: AbortSignal): Promise<readonly McpTool[]>;
  callTool(name: string, input: JsonObject, signal: AbortSignal): Promise<McpResult>;
}
export interface McpTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its input. */
  readonly inputSchema: JsonObject;
}
export interface McpResult {
  /** All text content. */
  readonly text: string;
  /** The structured content, if there is any. */
  readonly data: Json | undefined;
  /** The content as it came: text, images and so on. */
  readonly content: readonly JsonObject[];
  /** The tool failed; the text tells why. */
  readonly isError: boolean;
}
/** Finds a server by its name in the config. */
export type McpServerProvider = (name: string) => Promise<McpServer>;
