import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SPELLINGS } from "./wire.ts";

/** The receiver of webhooks, in the process of the load generator. */
export interface Webhook {
  url: string;
  /** Resolves with the number of deliveries when the end of the task has arrived. */
  delivered(taskId: string): Promise<number>;
  close(): void;
}

interface Deliveries {
  count: number;
  over: PromiseWithResolvers<number>;
}

/** Snapshots have the id of the task as `id`, updates as `taskId`. */
const TASK_ID = /"(?:id|taskId)":"([^"]+)"/;

export async function createWebhook(): Promise<Webhook> {
  const tasks = new Map<string, Deliveries>();
  const find = (taskId: string): Deliveries => {
    const found = tasks.get(taskId) ?? { count: 0, over: Promise.withResolvers<number>() };
    tasks.set(taskId, found);
    return found;
  };
  function receive(body: string): void {
    const deliveries = find(TASK_ID.exec(body)?.[1] ?? "");
    deliveries.count += 1;
    if (body.includes(SPELLINGS.v1.completed)) deliveries.over.resolve(deliveries.count);
  }
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("latin1").on("data", text => (body += text));
    request.on("end", () => {
      response.end();
      receive(body);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    delivered: taskId => find(taskId).over.promise.finally(() => tasks.delete(taskId)),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
