import { Fault, type Scope } from "../model/index.ts";
import type { Agent, Answer } from "../ports/index.ts";
import { type CoreParts, findAgent, type OperationOf } from "./lookup.ts";

export const card = (parts: CoreParts, operation: OperationOf<"card">, scope: Scope): Answer =>
  toAnswer(parts, operation.base, findAgent(parts, operation, scope), scope);

function toAnswer({ catalog, schemes }: CoreParts, base: string, agent: Agent, scope: Scope): Answer {
  const isDefault = agent.name === catalog.visibleTo(scope).defaultAgent;
  const security = agent.policy.access === "public" ? [] : schemes;
  return { kind: "card", agent, isDefault, base, security };
}

export function agents(parts: CoreParts, operation: OperationOf<"agents">, scope: Scope): Answer {
  const seen = parts.catalog.visibleTo(scope);
  return { kind: "agents", agents: seen.all(), fallback: seen.defaultAgent, base: operation.base };
}

/** v1 §3.1.11: where the card says that there is none, to ask for it is an error of the caller. */
export async function extendedCard(
  parts: CoreParts,
  operation: OperationOf<"extended-card">,
  scope: Scope,
): Promise<Answer> {
  const agent = findAgent(parts, operation, scope);
  if (!agent.extendedCard)
    throw new Fault("unsupported-operation", `The agent "${agent.name}" has no extended card`);
  const { base, grants = [] } = operation;
  const { tenant, principal } = scope;
  const extended = await agent.extendedCard({ tenant, principal, grants });
  return toAnswer(parts, base, { ...agent, card: extended }, scope);
}
