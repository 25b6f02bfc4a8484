import { Fault, type Scope } from "../model/index.ts";
import type { Agent, CardResult, OperationResult } from "../ports/index.ts";
import { findAgent, type OperationOf, type OperationParts } from "./lookup.ts";

export const card = (parts: OperationParts, operation: OperationOf<"card">, scope: Scope): OperationResult =>
  toResult(parts, operation.base, findAgent(parts, operation, scope), scope);

/** v1 §3.1.11: a request for an extended card that the public card does not declare is the caller's error. */
export async function extendedCard(
  parts: OperationParts,
  operation: OperationOf<"extended-card">,
  scope: Scope,
): Promise<OperationResult> {
  const agent = findAgent(parts, operation, scope);
  if (!agent.extendedCard)
    throw new Fault("unsupported-operation", `The agent "${agent.name}" has no extended card`);
  const { base, grants = [] } = operation;
  const { tenant, principal } = scope;
  const extended = await agent.extendedCard({ tenant, principal, grants });
  return toResult(parts, base, { ...agent, card: extended }, scope);
}

function toResult(
  { catalog, schemes }: OperationParts,
  base: string,
  agent: Agent,
  scope: Scope,
): CardResult {
  const isDefault = agent.name === catalog.visibleTo(scope).defaultAgent;
  const security = agent.policy.access === "public" ? [] : schemes;
  return { kind: "card", agent, isDefault, base, security };
}

export function agents(
  parts: OperationParts,
  operation: OperationOf<"agents">,
  scope: Scope,
): OperationResult {
  const { base } = operation;
  const visible = parts.catalog.visibleTo(scope);
  const all = visible.all();
  const cards = all.map(agent => toResult(parts, base, agent, scope));
  return { kind: "agents", agents: all, cards, fallback: visible.defaultAgent, base };
}
