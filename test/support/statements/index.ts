import { ARBITER } from "./arbiter.ts";
import { LANGSMITH_AGENT_SERVER } from "./langsmith-agent-server.ts";
import { LANGSMITH_JSON_RPC } from "./langsmith-responses.ts";
import { ORLOJ } from "./orloj.ts";
import { SIMPLE } from "./simple.ts";
import type { VendorDocument } from "./statement.ts";

export const VENDOR_DOCUMENTS: readonly VendorDocument[] = [
  LANGSMITH_JSON_RPC,
  LANGSMITH_AGENT_SERVER,
  ORLOJ,
  ARBITER,
  SIMPLE,
];
