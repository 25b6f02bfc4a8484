import { A2AClient, JsonRpcTransportFactory } from "a2a-v03/client";
import { describe, expect, test } from "vitest";
import { asTask, resultOf, sendParams } from "../support/sdk-v03.ts";
import { clientV03Contract } from "./sdk-v03.contract.ts";

const { url, connect } = clientV03Contract("JSONRPC", options => new JsonRpcTransportFactory(options));

describe("the official client 0.3.14 over JSON-RPC", () => {
  test("of the older API finds the agent from the card's URL, too", async () => {
    const client = await A2AClient.fromCardUrl(`${url()}/.well-known/agent-card.json`);
    const answer = await client.sendMessage(sendParams("old friend"));
    if (!("result" in answer)) throw new Error(answer.error.message);
    expect(resultOf(asTask(answer.result))).toBe("You said: old friend");
  });

  test("gets which chunks append to an artifact", async () => {
    const client = await connect("countdown");
    const events = await Array.fromAsync(client.sendMessageStream(sendParams("3")));
    const appends = events.flatMap(event => (event.kind === "artifact-update" ? [event.append] : []));
    expect(appends).toEqual([false, true, true, true]);
  });

  test("gets no history if it requests none, and the names of files", async () => {
    const client = await connect("reporter");
    const { id, artifacts } = asTask(await client.sendMessage(sendParams("to be")));
    expect((await client.getTask({ id, historyLength: 0 })).history ?? []).toEqual([]);
    const files = artifacts?.flatMap(one => one.parts).filter(part => part.kind === "file");
    expect(files).toMatchObject([{ file: { name: "words.csv" } }]);
  });

  test("gets code and message of a refused resubscription in a plain error: its reader has no error types", async () => {
    const client = await connect();
    await expect(client.resubscribeTask({ id: "nope" }).next()).rejects.toThrow(/-32001/);
  });
});
