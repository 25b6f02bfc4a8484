import { type AgentCard, Fault, mediaTypeOf, type Scope } from "../model/index.ts";
import type { Agent, SendRequest } from "../ports/index.ts";
import type { OperationParts } from "./lookup.ts";

/** Checks before anything is recorded whether an agent accepts a message. */
export function checkSend(agent: Agent, send: SendRequest): void {
  checkExtensions(agent, send);
  checkContent(agent, send.message);
  checkInput(agent, send);
  checkOutput(agent, send);
}

const RUN_RETRY_MS = 5_000;

/** Refuses work that could not begin before it is recorded: it would wait for an unknown time. */
export function checkRunCapacity({ store, fullMs, queueWaitMs }: OperationParts, scope: Scope): void {
  if (queueWaitMs === 0 || store.runs.blockedMs(scope, fullMs()) <= queueWaitMs) return;
  throw new Fault("unavailable", "The limit of concurrent runs is reached; retry later", {
    retryAfterMs: RUN_RETRY_MS,
  });
}

/** Ends loops of agents that forward calls to each other. */
export function checkHops({ hops = 0 }: SendRequest, hopsMax: number): void {
  if (hops > hopsMax)
    throw new Fault(
      "unsupported-operation",
      `The call was forwarded by ${hops} servers; the limit is ${hopsMax}. Is there a forwarding loop?`,
      { facts: { hops: String(hops) } },
    );
}

/** v1 §3.3.4: callers must name the extensions that the card calls required. */
function checkExtensions(agent: Agent, send: SendRequest): void {
  for (const { uri, required } of agent.card.extensions)
    if (required && !send.extensions.includes(uri))
      throw new Fault("extension-required", `The agent requires the extension ${uri}`, {
        facts: { extension: uri },
      });
}

function checkContent({ card, upstream }: Agent, message: SendRequest["message"]): void {
  message.parts.forEach((part, i) => {
    const type = mediaTypeOf(part);
    const isCovered = (mode: string): boolean => covers(mode, type);
    if (upstream ? upstream.inputModes.some(isCovered) : acceptsType(card, isCovered)) return;
    const accepted = [...new Set(upstream?.inputModes ?? allModes(card))].join(", ");
    throw new Fault(
      "content-type-not-supported",
      `Unsupported media type ${type}; the agent accepts ${accepted}`,
      { field: `message.parts[${i}]` },
    );
  });
}

/** v1 §4.4.5: a skill may accept more than the agent as a whole. */
const acceptsType = (card: AgentCard, isCovered: (mode: string) => boolean): boolean =>
  card.inputModes.some(isCovered) || card.skills.some(skill => skill.inputModes?.some(isCovered));

const allModes = (card: AgentCard): readonly string[] =>
  [card, ...card.skills].flatMap(one => one.inputModes ?? []);

/** Words without a slash, as the official samples, ADK and VoltAgent write them: families of media types. */
const FAMILIES: Readonly<Record<string, string>> = {
  "*": "*/*",
  text: "text/*",
  image: "image/*",
  audio: "audio/*",
  video: "video/*",
  file: "*/*",
  data: "application/json",
  json: "application/json",
};

/** `text/*` and `*` + `/*` are wildcards; parameters such as a charset do not count. */
function covers(mode: string, type: string): boolean {
  if (mode === type || mode === "*/*") return true;
  const bare = (type.split(";")[0] as string).trim().toLowerCase();
  const word = mode.toLowerCase();
  const wanted = Object.hasOwn(FAMILIES, word) ? (FAMILIES[word] as string) : word;
  if (wanted === "*/*") return true;
  return wanted.endsWith("/*") ? bare.startsWith(wanted.slice(0, -1)) : wanted === bare;
}

/** Some dialects put text into one member of the agent's input: an input schema must have it. */
function checkInput(agent: Agent, send: SendRequest): void {
  const members = agent.inputSchema?.properties;
  if (send.textInto === undefined || typeof members !== "object" || members === null) return;
  const at = send.message.parts.findIndex(part => part.kind === "text");
  if (at === -1 || Object.hasOwn(members, send.textInto)) return;
  throw new Fault(
    "invalid-params",
    `The input schema of the agent "${agent.name}" has no "${send.textInto}" for text; send data`,
    { field: `message.parts[${at}]` },
  );
}

function checkOutput(agent: Agent, { structured }: SendRequest): void {
  if (!structured || agent.outputSchema) return;
  throw new Fault(
    "invalid-params",
    `${structured.field} requires structured output, and the agent "${agent.name}" declares no output schema`,
    { field: structured.field },
  );
}
