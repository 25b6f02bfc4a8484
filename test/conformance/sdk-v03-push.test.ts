import type { PushNotificationConfig, Task } from "a2a-v03";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  PushNotificationNotSupportedError,
  RestTransportFactory,
  TaskNotFoundError,
} from "a2a-v03/client";
import { GrpcTransportFactory } from "a2a-v03/client/grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createScriptedAgent } from "../support/agents.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { asTask, resultOf, sendParams } from "../support/sdk-v03.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * The official client 0.3.14 sets push configs over each of its transports, and parses the payloads of its
 * webhook.
 */

const puppet = createScriptedAgent();
const discreet = createScriptedAgent({ push: false });
let server: TestServer;
let without: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
  // On gRPC this version can only reach the default agent.
  server = await serve([puppet.definition]);
  without = await serve([discreet.definition]);
});
afterAll(async () => {
  await Promise.all([server.stop(), without.stop()]);
  await receiver.close();
});

const TRANSPORTS = {
  JSONRPC: () => new JsonRpcTransportFactory(),
  "HTTP+JSON": () => new RestTransportFactory(),
  GRPC: () => new GrpcTransportFactory(),
};

describe.each(Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[])(
  "the official client 0.3.14 over %s",
  transport => {
    const connect = (url = server.url): Promise<Client> => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [TRANSPORTS[transport]()],
        preferredTransports: [transport],
      });
      return new ClientFactory(options).createFromUrl(url);
    };
    const toConfig = (taskId: string, more: Partial<PushNotificationConfig> = {}) => ({
      taskId,
      pushNotificationConfig: { url: receiver.url, ...more },
    });
    const begin = async (
      client: Client,
      pushNotificationConfig?: PushNotificationConfig,
    ): Promise<string> => {
      const how = { blocking: false, ...(pushNotificationConfig && { pushNotificationConfig }) };
      return asTask(await client.sendMessage(sendParams("go", {}, how))).id;
    };

    test("finds push in the card", async () => {
      expect((await (await connect()).getAgentCard()).capabilities.pushNotifications).toBe(true);
      const client = await connect(without.url);
      expect((await client.getAgentCard()).capabilities.pushNotifications).toBe(false);
      const setting = client.transport.setTaskPushNotificationConfig(toConfig("t1"));
      await expect(setting).rejects.toBeInstanceOf(PushNotificationNotSupportedError);
    });

    test("sets configs, gets them without their secrets, lists and deletes them", async () => {
      const client = await connect();
      const id = await begin(client);
      const authentication = { schemes: ["Bearer"], credentials: "s3cret" };
      const set = await client.setTaskPushNotificationConfig(toConfig(id, { id: "p1", authentication }));
      expect(set).toMatchObject({ taskId: id, pushNotificationConfig: { id: "p1", url: receiver.url } });
      await client.setTaskPushNotificationConfig(toConfig(id, { token: "t0ken" }));
      const first = { id, pushNotificationConfigId: "p1" };
      const { pushNotificationConfig: got } = await client.getTaskPushNotificationConfig(first);
      expect([got.authentication?.schemes, got.authentication?.credentials || undefined]).toEqual([
        ["Bearer"],
        undefined,
      ]);
      const all = await client.listTaskPushNotificationConfig({ id });
      expect(all.map(one => [one.taskId, one.pushNotificationConfig.id])).toEqual([
        [id, "p1"],
        [id, "default"],
      ]);
      for (const one of ["p1", "default", "default"])
        await client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: one });
      expect(await client.listTaskPushNotificationConfig({ id })).toEqual([]);
      const gone = client.getTaskPushNotificationConfig(first);
      await expect(gone).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    test("B-P6: its webhook gets the task as it is, with token and credentials", async () => {
      const client = await connect();
      const authentication = { schemes: ["Bearer"], credentials: "s3cret" };
      const id = await begin(client, { url: receiver.url, token: "t0ken", authentication });
      puppet.send(id, ctx => ctx.text("one", { last: true }));
      puppet.end(id);
      const isOf = ({ body }: Received): boolean => body.id === id;
      const last = await receiver.find(one => isOf(one) && one.body.status.state === "completed");
      expect(last.headers).toMatchObject({
        "content-type": "application/json",
        authorization: "Bearer s3cret",
        "x-a2a-notification-token": "t0ken",
      });
      const tasks = receiver.all.filter(isOf).map(one => one.body as Task);
      expect(new Set(tasks.map(task => task.kind))).toEqual(new Set(["task"]));
      expect(tasks.map(task => task.status.state)).toContain("working");
      expect(resultOf(last.body)).toBe("one");
    });
  },
);
