import type { AgentCard } from "@a2a-js/sdk";
import { RestTransportFactory } from "@a2a-js/sdk/client";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { describe, expect, test } from "vitest";
import { asTask, byId, request, sendRequest } from "../support/sdk-v1.ts";
import { clientV1Contract } from "./sdk-v1.contract.ts";

const { url, connect } = clientV1Contract("HTTP+JSON", options => new RestTransportFactory(options));

/** The requests of the client, with the responses of the server. */
const exchanges: { readonly path: string; readonly type: string | null }[] = [];
const listening: typeof fetch = async (address, init) => {
  const response = await fetch(address, init);
  exchanges.push({ path: new URL(String(address)).pathname, type: response.headers.get("content-type") });
  return response;
};

describe("the official client 1.3.0 over HTTP+JSON", () => {
  test("finds its URL in the card, and gets its own media type", async () => {
    const client = await connect("echo", listening);
    const card: AgentCard = await client.getAgentCard();
    expect(card.supportedInterfaces.map(one => [one.protocolBinding, one.protocolVersion, one.url])).toEqual(
      expect.arrayContaining([
        ["HTTP+JSON", "1.0", `${url()}/agents/echo`],
        ["HTTP+JSON", "0.3", `${url()}/agents/echo`],
      ]),
    );
    await client.sendMessage(sendRequest("hello"));
    expect(exchanges.at(-1)).toEqual({ path: "/agents/echo/message:send", type: "application/a2a+json" });
  });

  test("names a tenant in the path", async () => {
    const client = await connect("echo", listening);
    const task = asTask(await client.sendMessage({ ...sendRequest("hi"), tenant: "acme inc" }));
    expect(exchanges.at(-1)?.path).toBe("/agents/echo/acme%20inc/message:send");
    expect((await client.getTask({ ...request(task.id), tenant: "acme inc" })).id).toBe(task.id);
  });

  test("sends ids with colons and slashes, which are neither verbs nor paths", async () => {
    const client = await connect("echo", listening);
    for (const id of ["thread:run", "thread:cancel", "a/b:subscribe"]) {
      await expect(client.getTask(request(id))).rejects.toBeInstanceOf(TaskNotFoundError);
      await expect(client.cancelTask(byId(id))).rejects.toBeInstanceOf(TaskNotFoundError);
    }
  });
});
