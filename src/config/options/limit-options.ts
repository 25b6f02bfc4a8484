import { LIMITS, type Quotas } from "../../model/index.ts";
import { count, integer, milliseconds, structured } from "./option.ts";

export const LIMIT_OPTIONS = {
  bodyBytesMax: integer({
    help: "Largest request body",
    default: LIMITS.bodyBytesMax,
    min: 1_024,
    max: 1_073_741_824,
    placeholder: "bytes",
  }),
  runsMax: count({ help: "Concurrent runs", default: LIMITS.runsMax }),
  streamsMax: count({ help: "Open streams", default: LIMITS.streamsMax }),
  heartbeatMs: milliseconds(100, {
    help: "Interval between comments on a silent stream",
    default: LIMITS.heartbeatMs,
  }),
  cancelGraceMs: milliseconds(0, {
    help: "Time that an agent has to stop after a cancel",
    default: LIMITS.cancelGraceMs,
  }),
  drainMs: milliseconds(0, {
    help: "Time that running agents have to finish after SIGTERM",
    default: LIMITS.drainMs,
  }),
  leaseMs: milliseconds(1_000, {
    help: "Time after which the lease of a run expires if it is not renewed",
    default: LIMITS.leaseMs,
  }),
  attemptsMax: count({
    help: "Attempts at one turn before the task fails",
    default: LIMITS.attemptsMax,
  }),
  firstEventTimeoutMs: milliseconds(0, {
    help: "Time that a stream waits for the agent's first event before it sends the task",
    default: LIMITS.firstEventTimeoutMs,
    formerly: "firstWordMs",
  }),
  sendWaitMs: milliseconds(0, {
    help: "Time that a blocking send waits for its task; 0: without limit",
    default: 0,
  }),
  longPollMs: milliseconds(1, {
    help: "Time that a get with currentGeneration waits for the next update of its task",
    default: LIMITS.longPollMs,
  }),
  databaseConnectionsMax: count({
    help: "Connections to the database",
    default: LIMITS.databaseConnectionsMax,
  }),
  quotas: structured<Quotas>({
    help: "Quotas of one caller and of one tenant",
    default: {},
    expected:
      "an object such as { caller: { callsPerSecond: 10 }, tenant: { runs: 100 }, tenants: { acme: { … } } }",
  }),
  queueMax: count({ help: "Tasks that may wait for a run", default: LIMITS.queueMax }),
  queueWaitMs: milliseconds(0, {
    help: "Time without a free run after which new messages are rejected; 0: never",
    default: LIMITS.queueWaitMs,
  }),
  unreadBytesMax: integer({
    help: "Bytes of large responses that callers have not read yet; one caller may have half of them",
    default: LIMITS.unreadBytesMax,
    min: 1_024,
    max: 1_099_511_627_776,
    placeholder: "bytes",
  }),
  connectionsMax: count({ help: "Open connections", default: LIMITS.connectionsMax }),
  sweepMs: milliseconds(10, {
    help: "Interval between deletions of tasks that are past their agent's retention",
    default: LIMITS.sweepMs,
  }),
};
