import { agentNotFound, type Fault } from "../model/index.ts";
import type { VisibleAgents } from "../ports/index.ts";

/** B-V4: the same words as for an agent that is not there. */
export const noTenant = (tenant: string, seen: VisibleAgents): Fault => agentNotFound(tenant, seen.all());
