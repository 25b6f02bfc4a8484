/** How an agent wants its tasks to be run, and which callers it accepts. */
export interface AgentPolicy {
  /** "public": no authentication is required. "internal": only other agents of the same server can call it. */
  readonly access: "known" | "public" | "internal";
  /** The tenants that it is visible to; undefined: all. */
  readonly tenants: readonly string[] | undefined;
  /** What happens to an interrupted run. */
  readonly onCrash: "resume" | "fail" | "ask";
  /** The maximum of attempts per turn; undefined: the server's limit. */
  readonly attempts: number | undefined;
  /** What happens to a message while an earlier turn of its context is running. */
  readonly turns: "queue" | "reject" | "parallel";
  /** A message to a task that is being worked on is delivered to the run. */
  readonly acceptsWhileWorking: boolean;
  /** A message that names only a context answers the one task of that context that waits for input. */
  readonly contextAnswers: boolean;
  /** Artifacts that are open at the end of a turn get an empty last chunk; undefined: for clients that need it. */
  readonly closeArtifacts: boolean | undefined;
  /** A completed task has the text of its answer in its status, too. */
  readonly answerInStatus: boolean;
  /** "messageId": a message with a known id is the same call. */
  readonly dedupe: "messageId" | undefined;
  /** How long settled tasks are kept; undefined: forever. */
  readonly retention: Retention | undefined;
}
/** Tasks beyond any of these are deleted. A task whose calls have keys is kept for at least `LIMITS.keyMs`. */
export interface Retention {
  /** Settled tasks: since they settled. */
  readonly ageMs?: number | undefined;
  /** Ended tasks: per caller, the newest. */
  readonly count?: number | undefined;
  /** Events of ended tasks: since the task ended; the task itself is kept as a snapshot. */
  readonly eventsAgeMs?: number | undefined;
}

/** The answers to the question that `onCrash: "ask"` asks. */
export const CRASH_OPTIONS = ["run-again", "cancel"] as const;
