import { create, createFileRegistry, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { echo } from "../support/agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Server reflection (grpc/reflection/v1/reflection.proto): what grpcurl and buf ask, answered for a library of others. */

let server: TestServer;
let off: TestServer;
const clients: Client[] = [];
beforeAll(async () => {
  server = await serve([echo]);
  off = await serve([echo], { grpcReflection: "off" });
});
afterAll(async () => {
  for (const client of clients) client.close();
  await Promise.all([server.stop(), off.stop()]);
});

const connect = ({ url }: TestServer): Client => {
  const client = new Client(new URL(url).host, credentials.createInsecure());
  clients.push(client);
  return client;
};
const asIs = (bytes: Buffer): Buffer => bytes;

/** A field of a request or response that is a string. */
const field = (number: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);
const BY_NAME = 3;
const BY_SYMBOL = 4;
const LIST = 7;

/** Sends the requests one by one over one stream, each after the answer to the one before. */
function ask(client: Client, version: string, requests: readonly Buffer[]): Promise<Buffer[]> {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  const call = client.makeBidiStreamRequest(path, asIs, asIs);
  const answers: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const request = requests[answers.length];
      if (request) call.write(request);
      else call.end();
    };
    call.on("data", (answer: Buffer) => {
      answers.push(answer);
      next();
    });
    call.on("error", reject);
    call.on("end", () => resolve(answers));
    next();
  });
}

/** The length-delimited values of a field. */
function valuesOf(bytes: Buffer, number: number): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at++] as number;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      length += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    if ((tag & 7) !== 2) continue;
    if (tag >> 3 === number) found.push(bytes.subarray(at, at + length));
    at += length;
  }
  return found;
}
const fileIn = (answer: Buffer): FileDescriptorProto =>
  fromBinary(FileDescriptorProtoSchema, valuesOf(valuesOf(answer, 4)[0] as Buffer, 1)[0] as Buffer);

async function readFiles(client: Client, symbol: string): Promise<FileDescriptorProto[]> {
  const [first] = await ask(client, "v1", [field(BY_SYMBOL, symbol)]);
  const files = [fileIn(first as Buffer)];
  for (const file of files)
    for (const name of file.dependency)
      if (!files.some(one => one.name === name))
        files.push(fileIn((await ask(client, "v1", [field(BY_NAME, name)]))[0] as Buffer));
  return files.reverse();
}

describe.each(["v1", "v1alpha"])("grpc.reflection.%s", version => {
  it("lists the services, and has a file for each, over one stream", async () => {
    const client = connect(server);
    const [list = Buffer.alloc(0)] = await ask(client, version, [field(LIST, "*")]);
    const names = valuesOf(valuesOf(list, 6)[0] as Buffer, 1).map(one => String(valuesOf(one, 1)[0]));
    expect(names.toSorted()).toEqual([
      "a2a.v1.A2AService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "lf.a2a.v1.A2AService",
    ]);
    const answers = await ask(
      client,
      version,
      names.map(name => field(BY_SYMBOL, name)),
    );
    expect(answers.map(answer => fileIn(answer).service.length)).toEqual(names.map(() => 1));
  });
});

it.each([
  [
    "lf.a2a.v1",
    { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi", metadata: { a: [1, null] } }] } },
  ],
  ["a2a.v1", { message: { messageId: "m", role: "ROLE_USER", content: [{ text: "hi" }] } }],
])("a client that knows only the reflected files of %s calls the service with them", async (name, json) => {
  const client = connect(server);
  const files = await readFiles(client, `${name}.A2AService`);
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  const method = registry.getService(`${name}.A2AService`)?.method.sendMessage;
  if (!method) throw new Error("no method");
  const request = Buffer.from(toBinary(method.input, fromJson(method.input, json, { registry })));
  const bytes = await new Promise<Buffer>((resolve, reject) =>
    client.makeUnaryRequest(`/${name}.A2AService/SendMessage`, asIs, asIs, request, (error, value) =>
      error ? reject(error) : resolve(value as Buffer),
    ),
  );
  const response = toJson(method.output, fromBinary(method.output, bytes), { registry });
  expect(response).toMatchObject({
    task: {
      status: { state: "TASK_STATE_COMPLETED", timestamp: expect.any(String) },
      artifacts: [{ parts: [{ text: "hi" }] }],
    },
  });
});

it("an unknown symbol is an error in the answer; a request that cannot be read ends the stream", async () => {
  const client = connect(server);
  const [unknown = Buffer.alloc(0)] = await ask(client, "v1", [field(BY_SYMBOL, "no.such.Service")]);
  expect(valuesOf(valuesOf(unknown, 7)[0] as Buffer, 2).map(String)).toEqual(["No such file or symbol"]);
  const status = await ask(client, "v1", [Buffer.from([255, 255])]).catch(
    (error: ServiceError) => error.details,
  );
  expect(status).toBe("The message cannot be decoded");
  const large = await ask(client, "v1", [Buffer.alloc(5_000)]).catch((error: ServiceError) => error.details);
  expect(large).toContain("larger than");
});

it("is not there with grpcReflection off", async () => {
  const refused = await ask(connect(off), "v1", [field(LIST, "*")]).catch(
    (error: ServiceError) => error.code,
  );
  expect(refused).toBe(12);
});
