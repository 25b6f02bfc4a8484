/** What an agent's options add at the end of a turn: `closeArtifacts`, `answerInStatus`. */
import {
  type AgentPolicy,
  type Artifact,
  LIMITS,
  type Message,
  type Task,
  type TaskEvent,
  textOf,
  toTextAppend,
  withArtifact,
} from "../model/index.ts";
import type { Run } from "../ports/index.ts";
import { contentSize } from "./output-check.ts";

type ArtifactEvent = TaskEvent & { readonly type: "artifact" };
type EndPolicy = Pick<AgentPolicy, "closeArtifacts" | "answerInStatus">;
/** How artifacts are closed: by an empty last chunk, or by one that has the whole artifact. */
type Closing = "never" | "empty" | "whole";
interface EndOptions {
  readonly closing: Closing;
  readonly answerInStatus: boolean;
}

/** undefined: nothing is added at the end of this turn. */
export function createEndOfTurn(
  { closeArtifacts, answerInStatus }: EndPolicy,
  task: Task,
): EndOfTurn | undefined {
  const closing = closeArtifacts === false ? "never" : toClosing(task, closeArtifacts ?? false);
  return closing !== "never" || answerInStatus ? new EndOfTurn({ closing, answerInStatus }) : undefined;
}

/** ADK writes its session into the metadata of a message: `adk_app_name`, `adk_session_id`. */
const ADK_SESSION = "adk_session_id";
/** ADK for Python marks the parts that its user wrote. */
const ADK_USER_INPUT = "is_user_input";

function toClosing({ message }: Task, isChosen: boolean): Closing {
  if (message?.parts.some(({ metadata }) => metadata?.[ADK_USER_INPUT] === true)) return "whole";
  return isChosen || message?.metadata?.[ADK_SESSION] !== undefined ? "empty" : "never";
}

interface Followed {
  readonly artifact: Artifact;
  readonly isOpen: boolean;
  /** Its last chunk has all of it. */
  readonly isWhole: boolean;
  /** The turn began it: nothing of it is older. */
  readonly isNew: boolean;
}

/** Follows the output of one run. It is created only for turns that end with more than the agent's output. */
export class EndOfTurn {
  readonly #options: EndOptions;
  readonly #followed = new Map<string, Followed>();

  constructor(options: EndOptions) {
    this.#options = options;
  }

  /** `output`: also what an earlier attempt has recorded, which is not recorded again. */
  add(output: TaskEvent): void {
    if (output.type !== "artifact") return;
    const { append, last } = output;
    const { artifactId } = output.artifact;
    const known = this.#followed.get(artifactId);
    const [artifact] = withArtifact(known ? [known.artifact] : [], output) as [Artifact];
    const isNew = !append || known?.isNew === true;
    this.#followed.set(artifactId, { artifact, isOpen: !last, isWhole: last && !append, isNew });
  }

  /** Last chunks for the artifacts whose last chunk did not say that it is the last, or has not all of it. */
  closingEvents(): readonly TaskEvent[] {
    const { closing } = this.#options;
    if (closing === "never") return [];
    const events = [...this.#followed.values()].flatMap(one => toClosingEvent(one, closing) ?? []);
    for (const event of events) this.add(event);
    return events;
  }

  /** The message of the completed status: the text of all artifacts of the turn; undefined: there is none. */
  answer({ task }: Run, messageId: string): Message | undefined {
    if (!this.#options.answerInStatus) return undefined;
    const text = [...this.#followed.values()].map(({ artifact }) => textOf(artifact.parts)).join("");
    if (text === "") return undefined;
    const { id: taskId, contextId } = task;
    return { messageId, role: "agent", parts: [{ kind: "text", text }], taskId, contextId };
  }
}

function toClosingEvent(
  { artifact, isOpen, isWhole, isNew }: Followed,
  closing: Closing,
): ArtifactEvent | undefined {
  const whole: ArtifactEvent = { type: "artifact", artifact, append: false, last: true, join: false };
  if (closing === "whole" && isNew && !isWhole && contentSize(whole) <= LIMITS.eventBytesMax) return whole;
  return isOpen ? { ...toTextAppend(artifact.artifactId, ""), last: true } : undefined;
}
