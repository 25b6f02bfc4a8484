import { agentNotFound, type Fault } from "../model/index.ts";
import type { VisibleAgents } from "../ports/index.ts";

/** B-V4: the same answer as for an unknown agent. */
export const tenantNotFound = (tenant: string, visible: VisibleAgents): Fault =>
  agentNotFound(tenant, visible.all());
