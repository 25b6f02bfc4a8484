/** Many tasks, by ordinary calls over a few connections. */
import { Agent, request } from "node:http";

const AGENTS = ["anna", "bert", "cleo"] as const;
const CONNECTIONS = 48;

const wordOf = (at: number): string =>
  at % 50 === 0 ? "fail" : at % 100 === 1 ? "ask" : at % 200 === 3 ? "reject" : "note";

/** To the agents of test/fixtures/console/many.ts: 2 % fail, 1 % ask, 0.5 % are rejected. */
export async function fillTasks(url: string, total: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const message = {
        messageId: `m-${at}`,
        role: "ROLE_USER",
        parts: [{ text: `${wordOf(at)} number ${at}.` }],
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
      const headers = {
        "content-type": "application/json",
        "a2a-version": "1.0",
        "content-length": Buffer.byteLength(body),
      };
      const call = request(`${url}/agents/${AGENTS[at % 3]}`, { method: "POST", agent, headers }, response =>
        response.resume().on("end", resolve),
      );
      call.on("error", reject);
      call.end(body);
    });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < total) await send(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  agent.destroy();
}
