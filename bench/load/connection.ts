import { connect, type Socket } from "node:net";
import { type Answer, createAnswerReader } from "./answer.ts";

/** One keep-alive connection: one call at a time, directly on the socket. */
export interface Connection {
  /** Resolves with the whole response, or as soon as `enough` accepts its beginning. */
  call(bytes: string, enough?: (answer: Answer) => boolean): Promise<Answer>;
  /** A pending call fails with `why`. */
  close(why?: Error): void;
}

interface Waiting {
  take(text: string): void;
  fail(error: Error): void;
}

export async function openConnection(port: number): Promise<Connection> {
  let socket = await openSocket(port);
  let waiting: Waiting | undefined;
  listen();

  function listen(): void {
    socket.setEncoding("latin1");
    socket.on("data", text => waiting?.take(String(text)));
    socket.on("error", error => waiting?.fail(error));
    socket.on("close", () => waiting?.fail(new Error("the server closed the connection")));
  }

  async function call(bytes: string, enough = isComplete): Promise<Answer> {
    // A server may close a connection between two calls; that is no failure.
    if (socket.destroyed || socket.readableEnded) await reopen();
    return await new Promise((resolve, reject) => {
      waiting = createWaiting(enough, resolve, reject, () => (waiting = undefined));
      socket.write(bytes, "latin1");
    });
  }

  async function reopen(): Promise<void> {
    socket.destroy();
    socket = await openSocket(port);
    listen();
  }

  return { call, close: why => void socket.destroy(why) };
}

function createWaiting(
  enough: (answer: Answer) => boolean,
  resolve: (answer: Answer) => void,
  reject: (error: Error) => void,
  forget: () => void,
): Waiting {
  const reader = createAnswerReader();
  function fail(error: Error): void {
    forget();
    reject(error);
  }
  function take(text: string): void {
    try {
      reader.feed(text);
    } catch (error) {
      fail(error as Error);
      return;
    }
    if (!enough(reader.answer)) return;
    forget();
    resolve(reader.answer);
  }
  return { take, fail };
}

function isComplete(answer: Answer): boolean {
  return answer.complete;
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
