import {
  flag,
  list,
  type Members,
  object,
  only,
  record,
  ref,
  type Schema,
  some,
  text,
  texts,
  time,
  told,
  word,
} from "./schema.ts";

/** In what the forms of the official versions differ when they tell of tasks. */
export interface Spelling {
  /** What the names of its schemas begin with. */
  readonly prefix: string;
  readonly states: readonly string[];
  readonly roles: readonly string[];
  readonly part: Schema;
  /** The member of a message with its parts. */
  readonly parts: "parts" | "content";
  /** Objects tell what they are. */
  readonly kinds: boolean;
  /** A step of a stream tells whether it is the last one. */
  readonly final: boolean;
  /** A message can name tasks that it refers to. */
  readonly references: boolean;
}

/** The nouns of the protocol in one form. */
export function createShapes(spelling: Spelling): Members {
  const { prefix } = spelling;
  const own = (name: string): Schema => ref(`${prefix}${name}`);
  const kind = (name: string): Members => (spelling.kinds ? { kind: only(name) } : {});
  const whose = { taskId: text, contextId: text };
  const shapes: Members = {
    TaskState: word(...spelling.states),
    Part: spelling.part,
    Message: object(
      {
        ...kind("message"),
        messageId: text,
        role: word(...spelling.roles),
        [spelling.parts]: some(own("Part")),
      },
      {
        contextId: told("The conversation; without one, a new one begins", text),
        taskId: told("Goes on with this task", text),
        metadata: record,
        extensions: texts,
        ...(spelling.references && { referenceTaskIds: texts }),
      },
    ),
    Artifact: object(
      { artifactId: text, parts: list(own("Part")) },
      { name: text, description: text, metadata: record, extensions: texts },
    ),
    TaskStatus: object({ state: own("TaskState"), timestamp: time }, { message: own("Message") }),
    Task: object(
      { ...kind("task"), id: text, contextId: text, status: own("TaskStatus") },
      { artifacts: list(own("Artifact")), history: list(own("Message")), metadata: record },
    ),
    TaskStatusUpdateEvent: object(
      {
        ...kind("status-update"),
        ...whose,
        status: own("TaskStatus"),
        ...(spelling.final && { final: told("The stream ends after this", flag) }),
      },
      { metadata: record },
    ),
    TaskArtifactUpdateEvent: object(
      { ...kind("artifact-update"), ...whose, artifact: own("Artifact") },
      {
        append: told("Its parts are added to those that the artifact has", flag),
        lastChunk: told("The artifact is complete", flag),
        metadata: record,
      },
    ),
  };
  return Object.fromEntries(Object.entries(shapes).map(([name, schema]) => [`${prefix}${name}`, schema]));
}
