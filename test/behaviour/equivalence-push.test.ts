import { afterAll, beforeAll, describe, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { FaultCode } from "../../src/model/index.ts";
import { BINDINGS, type Binding, bindingsOf, expectMeaning, type Method } from "../support/bindings.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * B-V5: push configs mean the same over JSON-RPC, HTTP+JSON and gRPC, in all versions, also when they are
 * refused.
 */

const talker: AgentDefinition = { name: "talker", run: task => task.text };
const discreet: AgentDefinition = { ...talker, name: "discreet", push: false };

let server: TestServer;
const open: Binding[] = [];
beforeAll(async () => {
  server = await serve([talker, discreet], { v11: "on" });
});
afterAll(async () => {
  for (const binding of open) binding.close();
  await server.stop();
});

interface Scenario {
  readonly what: string;
  readonly agent?: string;
  readonly method: Method;
  /** Configs that were set over v1 before. */
  readonly given?: readonly Loose[];
  params(taskId: string): Loose;
  /** The meaning of the response, or the fault. */
  readonly means: readonly string[] | FaultCode;
  readonly overGrpc?: readonly string[];
}

const unknownTask = "00000000-0000-7000-8000-000000000000";
// Names below .example do not resolve: nothing here is ever delivered.
const target = { id: "p1", url: "https://hooks.example/" };
const MEANT = "p1 https://hooks.example/";

let count = 0;
const pushParams = (config: Loose): Loose => ({
  message: { messageId: `m${++count}`, role: "ROLE_USER", parts: [{ text: "hi" }] },
  configuration: { taskPushNotificationConfig: config },
});

const SCENARIOS: readonly Scenario[] = [
  {
    what: "a config that is set",
    method: "CreateTaskPushNotificationConfig",
    params: taskId => ({ taskId, ...target }),
    means: [`config ${MEANT}`],
  },
  {
    what: "a config that replaces another",
    method: "CreateTaskPushNotificationConfig",
    given: [target],
    params: taskId => ({ taskId, ...target, url: "https://hooks.example/other" }),
    means: [`config ${MEANT}other`],
  },
  {
    what: "a config that is read, without its secrets",
    method: "GetTaskPushNotificationConfig",
    given: [{ ...target, token: "t0ken", authentication: { scheme: "Bearer", credentials: "s3cret" } }],
    params: taskId => ({ taskId, id: "p1" }),
    means: [`config ${MEANT} Bearer`],
  },
  {
    what: "a list of configs",
    method: "ListTaskPushNotificationConfigs",
    given: [target, { ...target, id: "p2" }],
    params: taskId => ({ taskId }),
    means: [`configs ${MEANT}; p2 https://hooks.example/`],
  },
  {
    what: "an empty list, which is an empty message in gRPC",
    method: "ListTaskPushNotificationConfigs",
    params: taskId => ({ taskId }),
    means: ["configs"],
    overGrpc: ["nothing"],
  },
  {
    what: "a config that is deleted",
    method: "DeleteTaskPushNotificationConfig",
    given: [target],
    params: taskId => ({ taskId, id: "p1" }),
    means: ["nothing"],
  },
  {
    what: "an unknown config that is deleted",
    method: "DeleteTaskPushNotificationConfig",
    params: taskId => ({ taskId, id: "p1" }),
    means: ["nothing"],
  },
  {
    what: "an unknown config",
    method: "GetTaskPushNotificationConfig",
    params: taskId => ({ taskId, id: "p1" }),
    means: "task-not-found",
  },
  {
    what: "a config for an unknown task",
    method: "CreateTaskPushNotificationConfig",
    params: () => ({ taskId: unknownTask, ...target }),
    means: "task-not-found",
  },
  {
    what: "configs of an unknown task",
    method: "ListTaskPushNotificationConfigs",
    params: () => ({ taskId: unknownTask }),
    means: "task-not-found",
  },
  {
    what: "a config with a wrong URL",
    method: "CreateTaskPushNotificationConfig",
    params: taskId => ({ taskId, id: "p1", url: "nowhere" }),
    means: "invalid-params",
  },
  {
    what: "a send with a config",
    method: "SendMessage",
    params: () => pushParams(target),
    means: ['task completed ["hi"] (hi)'],
  },
  {
    what: "a send with a wrong config",
    method: "SendMessage",
    params: () => pushParams({ id: "p1", url: "nowhere" }),
    means: "invalid-params",
  },
  {
    what: "a send with a config, to an agent without push",
    agent: "discreet",
    method: "SendMessage",
    params: () => pushParams(target),
    means: "push-not-supported",
  },
  ...(
    [
      ["CreateTaskPushNotificationConfig", target],
      ["GetTaskPushNotificationConfig", { id: "p1" }],
      ["ListTaskPushNotificationConfigs", {}],
      ["DeleteTaskPushNotificationConfig", { id: "p1" }],
    ] as const
  ).map(([method, params]) => ({
    what: `${method}, of an agent without push`,
    agent: "discreet",
    method,
    params: () => ({ taskId: unknownTask, ...params }),
    means: "push-not-supported" as const,
  })),
];

describe.each(BINDINGS)("B-V5: %s", name => {
  it.each(SCENARIOS.map(scenario => [scenario.what, scenario] as const))("%s", async (_what, scenario) => {
    const url = `${server.url}/agents/talker`;
    const { id: taskId } = (await rpcResult(url, "SendMessage", V1.sendParams("hi"))).task;
    for (const config of scenario.given ?? [])
      await rpcResult(url, "CreateTaskPushNotificationConfig", { taskId, ...config });
    const binding = bindingsOf(server.url, scenario.agent ?? "talker").find(one => one.name === name);
    open.push(binding as Binding);
    const meaning = await (binding as Binding).call(scenario.method, scenario.params(taskId));
    expectMeaning(meaning, (name.endsWith("gRPC") && scenario.overGrpc) || scenario.means);
  });
});
