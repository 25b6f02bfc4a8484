/** What an agent's options add at the end of a turn: `closeArtifacts`, `answerInStatus`. */
import { type AgentPolicy, type Message, type Task, type TaskEvent, toTextAppend } from "../model/index.ts";
import type { Run } from "../ports/index.ts";

type ArtifactEvent = TaskEvent & { readonly type: "artifact" };
type EndOptions = Pick<AgentPolicy, "closeArtifacts" | "answerInStatus">;

/** undefined: nothing is added at the end of this turn. */
export function createEndOfTurn(policy: EndOptions, task: Task): EndOfTurn | undefined {
  const { closeArtifacts = isFromAdk(task), answerInStatus } = policy;
  return closeArtifacts || answerInStatus ? new EndOfTurn({ closeArtifacts, answerInStatus }) : undefined;
}

/** ADK writes its session into the metadata of a message: `adk_app_name`, `adk_session_id`. */
const ADK_SESSION = "adk_session_id";
const isFromAdk = ({ message }: Task): boolean => message?.metadata?.[ADK_SESSION] !== undefined;

/** Follows the output of one run. It is created only for turns that end with more than the agent's output. */
export class EndOfTurn {
  readonly #options: EndOptions;
  readonly #texts = new Map<string, { text: string; isOpen: boolean }>();

  constructor(options: EndOptions) {
    this.#options = options;
  }

  /** `output`: also what an earlier attempt has recorded, which is not recorded again. */
  add(output: TaskEvent): void {
    if (output.type !== "artifact") return;
    const { artifactId } = output.artifact;
    const known = this.#texts.get(artifactId);
    const text = textIn(output);
    const isAppended = output.append && known !== undefined;
    this.#texts.set(artifactId, { text: isAppended ? known.text + text : text, isOpen: !output.last });
  }

  /** Empty last chunks for the artifacts whose last chunk did not say that it is the last. */
  closingEvents(): readonly TaskEvent[] {
    if (!this.#options.closeArtifacts) return [];
    const open = [...this.#texts].filter(([, { isOpen }]) => isOpen);
    for (const [, one] of open) one.isOpen = false;
    return open.map(([artifactId]) => ({ ...toTextAppend(artifactId, ""), last: true }));
  }

  /** The message of the completed status: the text of all artifacts of the turn; undefined: there is none. */
  answer({ task }: Run, messageId: string): Message | undefined {
    if (!this.#options.answerInStatus) return undefined;
    const text = [...this.#texts.values()].map(one => one.text).join("");
    if (text === "") return undefined;
    const { id: taskId, contextId } = task;
    return { messageId, role: "agent", parts: [{ kind: "text", text }], taskId, contextId };
  }
}

const textIn = ({ artifact }: ArtifactEvent): string =>
  artifact.parts.map(part => (part.kind === "text" ? part.text : "")).join("");
