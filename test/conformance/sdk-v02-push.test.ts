import type { JSONRPCErrorResponse, Task, TaskPushNotificationConfig } from "a2a-v02";
import { A2AClient } from "a2a-v02/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createScriptedAgent } from "../support/agents.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The official client 0.2.5 sets push configs, and its webhook is called. */

const puppet = createScriptedAgent();
let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
  server = await serve([puppet.definition]);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

/** The successful responses of the client. */
async function resultOf<T>(reply: Promise<unknown>): Promise<T> {
  const answer = (await reply) as { readonly result: T } | JSONRPCErrorResponse;
  if ("error" in answer) throw new Error(`${answer.error.code} ${answer.error.message}`);
  return answer.result;
}

describe("the official client 0.2.5", () => {
  let messages = 0;
  const begin = async (client: A2AClient): Promise<string> => {
    const message = {
      kind: "message" as const,
      messageId: `v02-${++messages}`,
      role: "user" as const,
      parts: [{ kind: "text" as const, text: "go" }],
    };
    const configuration = { acceptedOutputModes: ["text/plain"], blocking: false };
    return (await resultOf<Task>(client.sendMessage({ message, configuration }))).id;
  };

  test("B-P6: sets a config, gets it without its secrets, and its webhook gets the task", async () => {
    const client = new A2AClient(server.url);
    const taskId = await begin(client);
    const authentication = { schemes: ["Bearer"], credentials: "s3cret" };
    const config = { taskId, pushNotificationConfig: { url: receiver.url, token: "t0ken", authentication } };
    const shown = {
      taskId,
      pushNotificationConfig: { url: receiver.url, authentication: { schemes: ["Bearer"] } },
    };
    const set = await resultOf<TaskPushNotificationConfig>(client.setTaskPushNotificationConfig(config));
    expect(set).toMatchObject(shown);
    const got = await resultOf<TaskPushNotificationConfig>(
      client.getTaskPushNotificationConfig({ id: taskId }),
    );
    expect(got).toEqual(set);
    expect(JSON.stringify(got)).not.toMatch(/t0ken|s3cret/);
    puppet.end(taskId);
    const { headers, body } = await receiver.find(one => one.body.status.state === "completed");
    expect(body).toMatchObject({ kind: "task", id: taskId });
    expect(headers).toMatchObject({ authorization: "Bearer s3cret", "x-a2a-notification-token": "t0ken" });
  });
});
