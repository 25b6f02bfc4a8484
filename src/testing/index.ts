/** Tests of agents: a server in the process of the test, with a clock, callers, crashes, recorded answers and models. */
export type { StepKey } from "../model/index.ts";
export type { CallerOptions, TestContent, TestSendOptions } from "./caller.ts";
export { type Cassette, type CassetteTurn, readCassette } from "./cassette.ts";
export type { CrashOptions } from "./crashes.ts";
export { assertTask, type TaskMatchers, taskMatchers } from "./matchers.ts";
export {
  type FakeModelRequest,
  type FakeOpenAi,
  fakeLanguageModel,
  fakeOpenAi,
  type ModelAnswer,
  type ModelScript,
  type ModelToolCalls,
} from "./models.ts";
export {
  createTestServer,
  type TestCaller,
  type TestLogLine,
  type TestServer,
  type TestServerOptions,
} from "./test-server.ts";
export type { TestEvent, TestTask } from "./test-task.ts";
export type { TestClock } from "./virtual-clock.ts";
export type { CrashPoint } from "./watched-runs.ts";
