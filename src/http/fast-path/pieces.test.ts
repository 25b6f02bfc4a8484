import { Socket } from "node:net";
import { expect, it } from "vitest";
import { createWicket } from "./connection.ts";

const HEAD = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n";

it("a body that comes in very many pieces is left to Node's server, with all that has come", () => {
  const served: string[] = [];
  const passed: string[] = [];
  const wicket = createWicket({
    serve: (_request, _response, url) => void served.push(url),
    pass: (_socket, bytes) => void passed.push(bytes.toString("latin1")),
    limits: { headersMax: 20, headBytesMax: 4_000, requestBytesMax: 64 * 1024 },
    keepAliveMs: 60_000,
    now: () => 0,
  });
  const socket = new Socket();
  wicket.take(socket, Buffer.from(HEAD));
  let sent = HEAD;
  // To put them together again with each of 60,000 pieces would copy 1.8 GB.
  for (let i = 0; i < 60_000 && passed.length === 0; i++) {
    socket.emit("data", Buffer.from("x"));
    sent += "x";
  }
  wicket.close();
  expect(served).toEqual([]);
  expect(passed).toEqual([sent]);
  expect(sent.length).toBeLessThan(HEAD.length + 100);
});
