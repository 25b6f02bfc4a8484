import { RestTransportFactory, TaskNotFoundError, UnsupportedOperationError } from "a2a-v03/client";
import { describe, expect, test } from "vitest";
import { asTask, sendParams } from "../support/sdk-v03.ts";
import { clientV03Contract } from "./sdk-v03.contract.ts";

const { url, connect } = clientV03Contract("HTTP+JSON", options => new RestTransportFactory(options));

describe("the official client 0.3.14 over HTTP+JSON", () => {
  test("finds its address in the card, and its own paths below it", async () => {
    const paths: string[] = [];
    const client = await connect("echo", (address, init) => {
      paths.push(new URL(String(address)).pathname);
      return fetch(address, init);
    });
    const { additionalInterfaces } = await client.getAgentCard();
    expect(additionalInterfaces).toContainEqual({ url: `${url()}/agents/echo`, transport: "HTTP+JSON" });
    await client.sendMessage(sendParams("hello"));
    expect(paths).toEqual(["/agents/echo/v1/message:send"]);
  });

  test("gets all of the history with a length of 0: in ProtoJSON that is an unset field", async () => {
    const client = await connect();
    const { id } = asTask(await client.sendMessage(sendParams("hello")));
    expect((await client.getTask({ id, historyLength: 0 })).history).toHaveLength(1);
  });

  test("gets errors of its own type also for a stream, and for a card", async () => {
    const client = await connect();
    const lost = client.resubscribeTask({ id: "thread:run/1" }).next();
    await expect(lost).rejects.toBeInstanceOf(TaskNotFoundError);
    // The client itself would not call, because of the card; its transport does.
    const extended = client.transport.getExtendedAgentCard();
    await expect(extended).rejects.toBeInstanceOf(UnsupportedOperationError);
  });
});
