import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { AI_CATALOG, API_CATALOG } from "../shared/catalog-links.ts";

export const ROUTES: readonly Route[] = [
  { transport: "document", verb: "GET", path: AI_CATALOG, method: "ai-catalog" },
  { transport: "document", verb: "GET", path: API_CATALOG, method: "api-catalog" },
];

/** Both list the agents that the caller may see; the form is the method. */
const decodeAgents = (call: WireCall): Operation => ({
  op: "agents",
  agent: undefined,
  base: call.base(),
  form: call.method,
});

export const METHODS: Readonly<Record<string, (call: WireCall) => Operation>> = {
  "ai-catalog": decodeAgents,
  "api-catalog": decodeAgents,
};
