/**
 * running: the agent is asked for output. canceling, draining: its signal is aborted, and its output is recorded until it
 * ends or the grace period expires. lost: another run may have begun, or the store refused an event. settled: the last event
 * of the turn is recorded, but may not be committed yet. over: the agent's output no longer counts.
 */
export type RunState = "running" | "canceling" | "draining" | "lost" | "settled" | "over";

/** Why a run is told to stop. */
export type StopReason = "canceled" | "shutdown" | "lost";

/**
 * final: the agent emitted the event that settles the turn. ready: an event is recorded, and the agent may continue.
 * returned, threw: the agent ended. broke: its own process ended, as in a crash. timeout: the grace period after a stop has expired.
 */
export type RunInput = "final" | "ready" | "returned" | "threw" | "broke" | StopReason | "timeout";

/** How a run ends; "settled": with the event that the agent emitted. */
export type EndReason = "completed" | "failed" | "canceled" | "interrupted" | "lost" | "settled";

interface End {
  readonly end: EndReason;
}
const end = (reason: EndReason): End => Object.freeze({ end: reason });
const COMPLETED = end("completed");
const FAILED = end("failed");
const CANCELED = end("canceled");
const INTERRUPTED = end("interrupted");
const LOST = end("lost");
const SETTLED = end("settled");

/** `null`: ignored, or impossible. `"="`: accepted, the state stays. An end leads to `over`. */
export type RunCell = Exclude<RunState, "over"> | "=" | End | null;
type RunRow = Readonly<Record<RunInput, RunCell>>;

/** After the first stop the reason stays: a run that is canceled ends as canceled, also if its lease is lost meanwhile. */
const stopping = (reason: End): RunRow => ({
  final: "settled",
  ready: "=",
  returned: reason,
  threw: reason,
  broke: reason,
  canceled: null,
  shutdown: null,
  lost: null,
  timeout: reason,
});

/** Every state × every input. */
export const RUN_STATES: Readonly<Record<RunState, RunRow>> = {
  running: {
    final: "settled",
    ready: "=",
    returned: COMPLETED,
    threw: FAILED,
    broke: INTERRUPTED,
    canceled: "canceling",
    shutdown: "draining",
    lost: "lost",
    timeout: null,
  },
  canceling: stopping(CANCELED),
  draining: stopping(INTERRUPTED),
  // The agent is not asked for more: its events would be refused.
  lost: { ...stopping(LOST), ready: LOST },
  // A stop still aborts the agent's signal. The agent throws if the commit of its last event fails.
  settled: {
    final: null,
    ready: SETTLED,
    returned: null,
    threw: SETTLED,
    broke: SETTLED,
    canceled: "=",
    shutdown: "=",
    lost: "=",
    timeout: SETTLED,
  },
  over: {
    final: null,
    ready: null,
    returned: null,
    threw: null,
    broke: null,
    canceled: null,
    shutdown: null,
    lost: null,
    timeout: null,
  },
};

/** `code` is the reason: an agent that forwards a task forwards a cancel, but not the shutdown of this server. */
export const toStopError = (reason: StopReason): Error =>
  Object.assign(new Error(`the run was ${reason === "shutdown" ? "stopped" : reason}`), { code: reason });
