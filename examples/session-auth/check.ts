import { equal, match } from "node:assert/strict";
import { createServer } from "dragoman";
import { DEFAULT_PERMISSIONS, type Identity } from "dragoman/ports";
import { authContract } from "dragoman/testing/contracts";
import { createSessionAuth } from "./auth.ts";

const sessions = new Map<string, Identity>();
function logIn(user: Identity): { readonly headers: { readonly cookie: string } } {
  const id = crypto.randomUUID();
  sessions.set(id, user);
  return { headers: { cookie: `theme=dark; session=${id}` } };
}
const method = createSessionAuth({ find: id => sessions.get(id) });

const cases = authContract(async () => ({
  method,
  show: logIn,
  bad: { "a session that has ended": { headers: { cookie: "session=unknown" } } },
  close: async () => sessions.clear(),
}));
for (const { name, run } of cases)
  await run().catch(error => {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  });

const server = await createServer({
  agents: [{ name: "who", run: (_task, ctx) => `You are ${ctx.caller.principal}` }],
  authenticators: [method],
  data: ":memory:",
  port: 0,
  logLevel: "warn",
});
const call = async (headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "hi" }] } },
    }),
  });
try {
  const user = { principal: "ada", tenants: ["default"], grants: DEFAULT_PERMISSIONS, agents: undefined };
  match(await (await call(logIn(user).headers)).text(), /You are ada/);
  const refused = await call({});
  equal(refused.status, 401);
  match(refused.headers.get("www-authenticate") ?? "", /^Session/);
  equal((await call({ cookie: "session=unknown" })).status, 401);
} finally {
  await server.close();
}
process.stdout.write("ok\n");
