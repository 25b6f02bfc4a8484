import { formatPath } from "../lib/json-schema-check.ts";
import { Fault, findCarrier, inputOf, skillIdOf } from "../model/index.ts";
import type { Agent, CheckInput, InputCheck, SendRequest } from "../ports/index.ts";

/** Refuses input that does not match the schema of the agent or of the skill that the caller names. */
export async function checkTypedInput(agent: Agent, send: SendRequest, check: CheckInput): Promise<void> {
  const named = skillIdOf(send.message, send.metadata);
  if (named !== undefined && !isKnown(agent, named)) throw unknownSkill(agent, send, named);
  const result = await check(isSkill(agent, named) ? named : undefined, inputOf(send.message.parts).value);
  if ("issue" in result) throw invalidInput(send, result);
}

const isSkill = ({ card }: Agent, named: string | undefined): boolean =>
  card.skills.some(({ id }) => id === named);

/** An agent whose skills have no schemas has no use for the name. */
const isKnown = (agent: Agent, named: string): boolean =>
  isSkill(agent, named) || Object.keys(agent.skillSchemas ?? {}).length === 0;

function unknownSkill({ card }: Agent, { message }: SendRequest, named: string): Fault {
  const field = message.metadata?.skillId === named ? "message.metadata.skillId" : "metadata.skillId";
  const ids = card.skills.map(({ id }) => id).join(", ");
  return new Fault(
    "invalid-params",
    `${field}: unknown skill ${JSON.stringify(named.slice(0, 100))}; the agent has ${ids}`,
    {
      field,
    },
  );
}

type RefusedInput = Extract<InputCheck, { readonly issue: unknown }>;

function invalidInput(send: SendRequest, { issue, skill, skills }: RefusedInput): Fault {
  const { parts } = send.message;
  const input = inputOf(parts);
  const at = findCarrier(parts, input, String(issue.path[0]));
  const path = formatPath(issue.path);
  const carrier = send.inputField ?? carrierName(send, input.carrier, at);
  // The members of a text, and of data that is not there, are no parameters.
  const field = input.carrier === "data" ? formatPath([carrier, ...issue.path]) : carrier;
  const member = input.carrier === "data" || path === "" ? "" : ` ${path}:`;
  const missing = input.carrier === "none" ? " data is missing:" : "";
  const unnamed = skills
    ? ` No skill accepts it; closest is ${skill}, message.metadata.skillId chooses among ${skills.join(", ")}`
    : "";
  return new Fault(
    "invalid-params",
    `${field}:${missing}${member} ${issue.message}${unnamed && `.${unnamed}`}`,
    { field },
  );
}

function carrierName(
  { partNames: { parts, data } = PART_NAMES }: SendRequest,
  carrier: "data" | "text" | "none",
  at: number,
): string {
  if (carrier === "none") return parts;
  return `${parts}[${at}].${carrier === "data" ? data : carrier}`;
}
const PART_NAMES = { parts: "message.parts", data: "data" };
