/** LangGraph's Command from its JSON form. */
import type { Json, JsonObject } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";

/** A plain object that LangGraph takes for its class, so that its package need not be imported. */
export function toCommand(command: JsonObject): object {
  const { resume, update, goto } = command;
  return {
    lg_name: "Command",
    ...(resume !== undefined && { resume }),
    ...(update !== undefined && update !== null && { update }),
    goto: toTargets(goto).map(toTarget),
  };
}

const toTargets = (goto: Json | undefined): readonly Json[] => {
  if (goto === undefined || goto === null) return [];
  return Array.isArray(goto) ? (goto as readonly Json[]) : [goto];
};

/** The name of a node, or a node with its input. */
const toTarget = (target: Json): unknown =>
  isRecord(target) ? { lg_name: "Send", node: target.node, args: target.input ?? null } : target;
