import { StreamResponse, type TaskPushNotificationConfig, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { PushNotificationNotSupportedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { asTask, caseOf, sendRequest } from "../support/sdk-v1.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * The official client 1.3.0 sets push configs over each of its transports, and parses the payloads of its
 * webhook.
 */

const puppet = createScriptedAgent();
let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
  server = await serve([puppet.definition, { ...echo, name: "discreet", push: false }]);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const TRANSPORTS = {
  JSONRPC: () => new JsonRpcTransportFactory(),
  "HTTP+JSON": () => new RestTransportFactory(),
  GRPC: () => new GrpcTransportFactory(),
};

describe.each(Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[])(
  "the official client 1.3.0 over %s",
  transport => {
    const connect = (agent: string): Promise<Client> => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [TRANSPORTS[transport]()],
        preferredTransports: [transport],
      });
      return new ClientFactory(options).createFromUrl(`${server.url}/agents/${agent}/`);
    };
    const toConfig = (taskId: string, more: Partial<TaskPushNotificationConfig> = {}) => ({
      tenant: "",
      id: "",
      taskId,
      url: receiver.url,
      token: "",
      authentication: undefined,
      ...more,
    });
    const begin = async (client: Client, configuration: object = {}): Promise<string> =>
      asTask(await client.sendMessage(sendRequest("go", {}, { returnImmediately: true, ...configuration })))
        .id;
    const listOf = (taskId: string) => ({ tenant: "", taskId, pageSize: 0, pageToken: "" });

    test("finds push in the card", async () => {
      expect((await (await connect("puppet")).getAgentCard()).capabilities?.pushNotifications).toBe(true);
      const discreet = await connect("discreet");
      expect((await discreet.getAgentCard()).capabilities?.pushNotifications).toBe(false);
      const list = discreet.transport.listTaskPushNotificationConfig(listOf("t1"));
      await expect(list).rejects.toBeInstanceOf(PushNotificationNotSupportedError);
    });

    test("sets configs, gets them without their secrets, lists and deletes them", async () => {
      const client = await connect("puppet");
      const taskId = await begin(client);
      const authentication = { scheme: "Bearer", credentials: "s3cret" };
      const set = await client.createTaskPushNotificationConfig(toConfig(taskId, { authentication }));
      expect(set).toMatchObject({ taskId, url: receiver.url, id: expect.stringMatching(/./) });
      const other = toConfig(taskId, { id: "p2", token: "t0ken" });
      expect((await client.createTaskPushNotificationConfig(other)).id).toBe("p2");
      const got = await client.getTaskPushNotificationConfig({ tenant: "", taskId, id: set.id });
      expect(got.authentication).toMatchObject({ scheme: "Bearer", credentials: "" });
      const { configs } = await client.listTaskPushNotificationConfig(listOf(taskId));
      expect(configs.map(one => [one.id, one.token])).toEqual([
        [set.id, ""],
        ["p2", ""],
      ]);
      for (const id of [set.id, "p2", "p2"])
        await client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id });
      expect((await client.listTaskPushNotificationConfig(listOf(taskId))).configs).toEqual([]);
      const gone = client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "p2" });
      await expect(gone).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    /** The payloads for a task, parsed with its own types. */
    const isOf =
      (taskId: string, is: (event: StreamResponse) => boolean) =>
      ({ body }: Received): boolean => {
        const event = StreamResponse.fromJSON(body);
        const value = event.payload?.value as { id?: string; taskId?: string } | undefined;
        return (value?.taskId ?? value?.id) === taskId && is(event);
      };
    const hasEnded = (event: StreamResponse): boolean =>
      event.payload?.$case === "statusUpdate" &&
      event.payload.value.status?.state === TaskState.TASK_STATE_COMPLETED;

    test("B-P6: its webhook gets the updates, with token and credentials, in its own form", async () => {
      const client = await connect("puppet");
      const taskId = await begin(client);
      const authentication = { scheme: "Bearer", credentials: "s3cret" };
      await client.createTaskPushNotificationConfig(toConfig(taskId, { token: "t0ken", authentication }));
      puppet.send(taskId, ctx => ctx.text("one", { last: true }));
      puppet.end(taskId);
      const last = await receiver.find(isOf(taskId, hasEnded));
      expect(last.headers).toMatchObject({
        "content-type": "application/a2a+json",
        authorization: "Bearer s3cret",
        "x-a2a-notification-token": "t0ken",
      });
      const events = receiver.all
        .filter(isOf(taskId, () => true))
        .map(one => StreamResponse.fromJSON(one.body));
      expect(events.map(caseOf)).toContain("artifactUpdate");
      expect(caseOf(events.at(-1) as StreamResponse)).toBe("statusUpdate");
    });

    test("B-P11: a config that is sent with the message misses nothing", async () => {
      const client = await connect("puppet");
      const taskId = await begin(client, { taskPushNotificationConfig: { id: "p1", url: receiver.url } });
      puppet.end(taskId);
      await receiver.find(isOf(taskId, hasEnded));
      const states = receiver.all
        .filter(isOf(taskId, () => true))
        .map(one => StreamResponse.fromJSON(one.body).payload?.value as { status?: { state: TaskState } })
        .map(value => value.status?.state);
      expect(states[0]).toBe(TaskState.TASK_STATE_SUBMITTED);
      expect(states).toContain(TaskState.TASK_STATE_WORKING);
    });
  },
);
