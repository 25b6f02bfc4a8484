import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { describe, expect, test } from "vitest";
import { asTask, request, resultOf, sendRequest } from "../support/sdk-v1.ts";
import { clientV1Contract } from "./sdk-v1.contract.ts";

const { url, connect } = clientV1Contract("GRPC", () => new GrpcTransportFactory());

describe("the official client 1.3.0 over gRPC alone", () => {
  test("finds host and port in the card, and the agent as the tenant", async () => {
    const { host } = new URL(url());
    const { supportedInterfaces } = await (await connect()).getAgentCard();
    expect(supportedInterfaces.filter(one => one.protocolBinding === "GRPC")).toEqual([
      { url: host, protocolBinding: "GRPC", protocolVersion: "1.0", tenant: "echo" },
      { url: host, protocolBinding: "GRPC", protocolVersion: "0.3", tenant: "echo" },
    ]);
    const other = await (await connect("countdown")).getAgentCard();
    expect(other.supportedInterfaces.filter(one => one.protocolBinding === "GRPC")).toEqual([
      { url: host, protocolBinding: "GRPC", protocolVersion: "1.0", tenant: "countdown" },
    ]);
  });

  test("uses 0.3 if a card has nothing newer", async () => {
    const card = await (await connect()).getAgentCard();
    const older = card.supportedInterfaces.filter(one => one.protocolVersion === "0.3");
    const factory = new GrpcTransportFactory({ legacyCompat: { enabled: true } });
    const transport = await factory.create(new URL(url()).host, { ...card, supportedInterfaces: older });
    expect(transport.protocolVersion).toBe("0.3");
    const task = asTask(await transport.sendMessage(sendRequest("hello")));
    expect(resultOf(task)).toBe("You said: hello");
    expect((await transport.getTask(request(task.id))).id).toBe(task.id);
  });

  test("reads the details of an error", async () => {
    const client = await connect();
    const missing = client.getTask(request("nobody"));
    await expect(missing).rejects.toMatchObject({ status: 5, metadata: { taskId: "nobody" } });
    const empty = client.sendMessage(sendRequest("", { parts: [] }));
    await expect(empty).rejects.toBeInstanceOf(RequestMalformedError);
    await expect(empty).rejects.toThrow("message.parts must be an array with at least one part");
  });
});
