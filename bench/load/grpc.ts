import { connect } from "node:net";
import { SendMessageRequest, SendMessageResponse } from "@a2a-js/sdk";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import type { Answer } from "./answer.ts";
import type { Connection } from "./connection.ts";

/**
 * gRPC directly on the socket, one call at a time: a complete HTTP/2 client would cost more than the server.
 */

const { path, requestSerialize, responseDeserialize } = A2AService.sendMessage;

/** Bytes are kept as Latin-1 text, as everywhere in the generator. */
export const toRequest = (params: object): string =>
  requestSerialize(SendMessageRequest.fromJSON(params)).toString("latin1");
export const readReply = (body: string): unknown =>
  SendMessageResponse.toJSON(responseDeserialize(Buffer.from(body, "latin1")));

/** RFC 9113 §6: the frame types that are used here. */
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const HEAD_CHARS = 9;
/** Larger than the responses of one turn. */
const WINDOW = 0x3fffffff;

export function openGrpcConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
  const head = `\x83\x86${literal(":path", path)}${literal(":authority", `127.0.0.1:${port}`)}${literal("content-type", "application/grpc")}${literal("te", "trailers")}${literal("a2a-version", "1.0")}`;
  let stream = -1;
  let rest = "";
  let body = "";
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  function call(message: string): Promise<Answer> {
    stream += 2;
    body = "";
    const data = `\0${toUint32(message.length)}${message}`;
    const frames = frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, data);
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(frames, "latin1");
    });
  }

  function readFrames(text: string): void {
    rest += text;
    for (;;) {
      const end = HEAD_CHARS + readNumber(rest, 0, 3);
      if (rest.length < HEAD_CHARS || rest.length < end) return;
      handleFrame(rest.charCodeAt(3), rest.charCodeAt(4), rest.slice(HEAD_CHARS, end));
      rest = rest.slice(end);
    }
  }

  function handleFrame(type: number, flags: number, content: string): void {
    if (type === DATA) body += content;
    if (type === RST_STREAM || type === GOAWAY) fail(new Error(`the server sent frame ${type}`));
    if (type === SETTINGS && !(flags & ACK)) socket.write(frame(SETTINGS, ACK, 0, ""), "latin1");
    if (type === PING && !(flags & ACK)) socket.write(frame(PING, ACK, 0, content), "latin1");
    // The length prefix precedes the message; without a message, the trailers have an error.
    if ((type === HEADERS || type === DATA) && flags & END_STREAM)
      waiting?.resolve({ status: 200, body: body.slice(5), complete: true });
  }

  const fail = (error: Error): void => waiting?.reject(error);
  socket.on("data", text => readFrames(String(text)));
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed the connection")));
  const preface = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${frame(SETTINGS, 0, 0, `\0\x04${toUint32(WINDOW)}`)}`;
  socket.write(preface + frame(WINDOW_UPDATE, 0, 0, toUint32(WINDOW)), "latin1");
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => resolve({ call, close: why => void socket.destroy(why) }));
  });
}

const frame = (type: number, flags: number, stream: number, content: string): string =>
  `${toUint32(content.length).slice(1)}${String.fromCharCode(type, flags)}${toUint32(stream)}${content}`;

const toUint32 = (number: number): string =>
  String.fromCharCode((number >>> 24) & 255, (number >>> 16) & 255, (number >>> 8) & 255, number & 255);

/** RFC 7541 §6.2.2: a literal header without indexing. */
const literal = (name: string, value: string): string =>
  `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`;

function readNumber(text: string, from: number, chars: number): number {
  let number = 0;
  for (let i = from; i < from + chars; i++) number = number * 256 + text.charCodeAt(i);
  return number;
}
