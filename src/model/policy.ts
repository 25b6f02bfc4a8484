/** How an agent wants its tasks to be treated, and by whom it may be called. */
export interface AgentPolicy {
  /** "public": callers need not say who they are. */
  readonly access: "known" | "public";
  /** Only these know of it; undefined: all tenants. */
  readonly tenants: readonly string[] | undefined;
  /** What becomes of a run that was cut off. */
  readonly onCrash: "resume" | "fail" | "ask";
  /** How often a turn may be begun; undefined: the server's limit. */
  readonly attempts: number | undefined;
  /** What becomes of a message while the agent is at an earlier turn of its context. */
  readonly turns: "queue" | "reject" | "parallel";
  /** A message to a task that is being worked on reaches the run. */
  readonly acceptsWhileWorking: boolean;
  /** "messageId": a message that was sent before is the same call. */
  readonly dedupe: "messageId" | undefined;
  /** How long settled tasks are kept; undefined: for ever. */
  readonly retention: Retention | undefined;
}
/** What is beyond any of these goes. A task whose calls have keys stays at least `LIMITS.keyMs`. */
export interface Retention {
  /** Settled tasks: since they settled. */
  readonly ageMs?: number | undefined;
  /** Ended tasks: per caller, the newest. */
  readonly count?: number | undefined;
  /** Events of ended tasks: since they ended; the task itself stays, as it ended. */
  readonly eventsAgeMs?: number | undefined;
}
