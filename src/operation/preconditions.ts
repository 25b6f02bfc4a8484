import { type AgentCard, Fault, mediaTypeOf, type Scope } from "../model/index.ts";
import type { Agent, Send } from "../ports/index.ts";
import type { CoreParts } from "./lookup.ts";

/** Whether an agent can take a message at all; said before anything is recorded. */
export function checkSend(agent: Agent, send: Send): void {
  checkExtensions(agent, send);
  checkContent(agent, send.message);
  checkInput(agent, send);
}

/** How long a caller whose work could not begin is told to wait. */
const RUN_RETRY_MS = 5_000;

/** Work that could not begin is refused before it is recorded: it would wait, and nothing tells for how long. */
export function checkRuns({ store, fullMs, queueWaitMs }: CoreParts, scope: Scope): void {
  if (queueWaitMs === 0 || store.runs.heldMs(scope, fullMs()) <= queueWaitMs) return;
  throw new Fault(
    "unavailable",
    "All runs that this caller may have are taken, and none has become free for a while; try again later",
    { retryAfterMs: RUN_RETRY_MS },
  );
}

/** Agents that pass calls on to each other may do so in a circle: somebody must end it. */
export function checkHops({ hops = 0 }: Send, hopsMax: number): void {
  if (hops > hopsMax)
    throw new Fault(
      "unsupported-operation",
      `This call was passed on by ${hops} servers, and ${hopsMax} are the limit here: do they pass it on in a circle?`,
      { facts: { hops: String(hops) } },
    );
}

/** v1 §3.3.4: an extension that the card calls required must be named by the caller. */
function checkExtensions(agent: Agent, send: Send): void {
  for (const { uri, required } of agent.card.extensions)
    if (required && !send.extensions.includes(uri))
      throw new Fault(
        "extension-required",
        `This agent is only for callers that ask for its extension ${uri}`,
        {
          facts: { extension: uri },
        },
      );
}

function checkContent(agent: Agent, message: Send["message"]): void {
  message.parts.forEach((part, i) => {
    const type = mediaTypeOf(part);
    if (takes(agent.card, type)) return;
    const modes = [agent.card, ...agent.card.skills].flatMap(one => one.inputModes ?? []);
    const known = [...new Set(modes)].join(", ");
    throw new Fault("content-type-not-supported", `This agent takes ${known}; this part is ${type}`, {
      field: `message.parts[${i}]`,
    });
  });
}

/** v1 §4.4.5: a skill may take more than the agent as a whole. */
function takes(card: AgentCard, type: string): boolean {
  const isCovered = (mode: string): boolean => covers(mode, type);
  return card.inputModes.some(isCovered) || card.skills.some(skill => skill.inputModes?.some(isCovered));
}

/** `text/*` and `*` + `/*` cover what they say; parameters such as a charset do not count. */
function covers(mode: string, type: string): boolean {
  if (mode === type || mode === "*/*" || mode === "*") return true;
  const bare = (type.split(";")[0] as string).trim().toLowerCase();
  const wanted = mode.toLowerCase();
  return wanted.endsWith("/*") ? bare.startsWith(wanted.slice(0, -1)) : wanted === bare;
}

/** Some dialects put text into one member of the agent's input: an agent that says what it takes must have it. */
function checkInput(agent: Agent, send: Send): void {
  const known = agent.inputSchema?.properties;
  if (send.textInto === undefined || typeof known !== "object" || known === null) return;
  const at = send.message.parts.findIndex(part => part.kind === "text");
  if (at === -1 || Object.hasOwn(known, send.textInto)) return;
  throw new Fault(
    "invalid-params",
    `The input of the agent "${agent.name}" has no "${send.textInto}", so it takes no text; send data`,
    { field: `message.parts[${at}]` },
  );
}
