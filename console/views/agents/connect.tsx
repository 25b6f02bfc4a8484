import { useState } from "preact/hooks";
import type { AgentRow } from "../../../src/admin/api.ts";
import { me } from "../../lib/admin.ts";
import { ROOT, urlOf } from "../../lib/api.ts";
import { Button, copy, Tabs } from "../../parts/basics.tsx";

interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly code: string;
}

const quote = (text: string): string => text.replaceAll("'", "'\\''");

const JS_WITH_TOKEN = `const fetchImpl = (url, init = {}) =>
  fetch(url, { ...init, headers: { ...init.headers, Authorization: "Bearer " + process.env.TOKEN } });
const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
`;

/** Code to paste: the address of this agent in the clients that people have. */
export function snippetsOf(agent: AgentRow, needsToken: boolean): readonly Snippet[] {
  const url = urlOf(`agents/${encodeURIComponent(agent.name)}`).href;
  const root = ROOT.href.replace(/\/$/, "");
  const text = agent.skills[0]?.examples[0] ?? "Hello";
  const json = JSON.stringify(text);
  const auth = needsToken ? ` \\\n  -H 'Authorization: Bearer '"$TOKEN"` : "";
  const body = quote(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendStreamingMessage",
      params: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text }] } },
    }),
  );
  return [
    {
      id: "curl",
      title: "curl",
      note: "A2A 1.0 over JSON-RPC; the answer streams.",
      code: `curl -N '${url}' \\\n  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0'${auth} \\\n  -d '${body}'`,
    },
    {
      id: "cli",
      title: "Command line",
      note: "The client of this package.",
      code: `${needsToken ? "DRAGOMAN_TOKEN=$TOKEN " : ""}npx dragoman call '${root}' --agent '${agent.name}' '${quote(text)}'`,
    },
    {
      id: "js",
      title: "A2A JS SDK",
      note: "npm install @a2a-js/sdk",
      code: `import { SendMessageRequest } from "@a2a-js/sdk";\nimport { ClientFactory${needsToken ? ", JsonRpcTransportFactory" : ""} } from "@a2a-js/sdk/client";\n\n${needsToken ? JS_WITH_TOKEN : "const factory = new ClientFactory();\n"}const client = await factory.createFromUrl("${url}/");\nconst request = SendMessageRequest.fromJSON({\n  message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: ${json} }] },\n});\nfor await (const event of client.sendMessageStream(request)) console.log(JSON.stringify(event.payload));`,
    },
    {
      id: "python",
      title: "A2A Python SDK",
      note: "pip install a2a-sdk httpx",
      code: `import asyncio, ${needsToken ? "os, " : ""}uuid, httpx\nfrom a2a.client import A2ACardResolver, ClientConfig, ClientFactory\nfrom a2a.types import Message, Part, Role, SendMessageRequest\n\nasync def main():\n    async with httpx.AsyncClient(timeout=None${needsToken ? ', headers={"Authorization": "Bearer " + os.environ["TOKEN"]}' : ""}) as http:\n        card = await A2ACardResolver(http, "${url}").get_agent_card()\n        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)\n        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=${json})])\n        async for event in client.send_message(SendMessageRequest(message=message)):\n            print(event)\n\nasyncio.run(main())`,
    },
    {
      id: "langgraph",
      title: "LangGraph SDK",
      note: "npm install @langchain/langgraph-sdk; the assistant is the name of the agent.",
      code: `import { Client } from "@langchain/langgraph-sdk";\n\nconst client = new Client({ apiUrl: "${root}"${needsToken ? ', defaultHeaders: { Authorization: "Bearer " + process.env.TOKEN }' : ""} });\nconst thread = await client.threads.create();\nconst stream = client.runs.stream(thread.thread_id, "${agent.name}", {\n  input: { messages: [{ role: "user", content: ${json} }] },\n});\nfor await (const chunk of stream) console.log(chunk.event, chunk.data);`,
    },
    {
      id: "openai",
      title: "OpenAI SDK",
      note: "npm install openai; the model is the name of the agent.",
      code: `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${root}/v1", apiKey: process.env.TOKEN ?? "none" });\nconst stream = await client.responses.create({ model: "${agent.name}", input: ${json}, stream: true });\nfor await (const event of stream) console.log(event);`,
    },
    {
      id: "dragoman",
      title: "Another Dragoman",
      note: "The agent as an agent of another server.",
      code: `import { remote } from "dragoman/remote";\n\nexport default remote({ name: "${agent.name}", card: "${url}"${needsToken ? ', auth: { bearerEnv: "TOKEN" }' : ""} });`,
    },
  ];
}

/** The host is that of the page, or of the public URL: only what differs is shown. */
const pathOf = (url: string): string => (/^https?:/.test(url) ? new URL(url).pathname : url);

export function Connect({ agent }: { readonly agent: AgentRow }) {
  const features = me.value?.features;
  const hasLangGraph = features?.dialects.some(one => one.name === "langgraph") ?? false;
  const snippets = snippetsOf(agent, me.value?.needsToken ?? false)
    .filter(one => one.id !== "langgraph" || hasLangGraph)
    .filter(one => one.id !== "openai" || features?.openai);
  const [id, setId] = useState("curl");
  const one = snippets.find(snippet => snippet.id === id) ?? snippets[0];
  const addresses = agent.addresses;
  return (
    <div class="ag-cols">
      <div class="card-json">
        <div class="card-head">
          <Tabs
            segmented
            label="Client"
            items={snippets.map(snippet => ({ id: snippet.id, label: snippet.title }))}
            chosen={id}
            onChoose={setId}
          />
        </div>
        {one && (
          <>
            <div class="code-bar">
              <span class="grow">{one.note}</span>
              <Button small kind="ghost" icon="copy" label="Copy" onClick={() => copy(one.code)} />
            </div>
            <pre class="code connect-code" tabIndex={0}>
              {one.code}
            </pre>
          </>
        )}
      </div>
      <div>
        <div class="card-head">
          <h2>Addresses</h2>
          <span class="count">{addresses.length}</span>
        </div>
        <table class="table addresses">
          <thead>
            <tr>
              <th scope="col">Dialect</th>
              <th scope="col">URL</th>
              <th scope="col">
                <span class="sr">Copy</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {addresses.map((address, at) => (
              <tr key={at}>
                <td>
                  {address.title} <span class="muted">{address.binding}</span>
                </td>
                <td class="what mono" title={address.url}>
                  {pathOf(address.url)}
                </td>
                <td>
                  <Button
                    small
                    kind="ghost"
                    icon="copy"
                    name={`Copy the URL for ${address.title}`}
                    onClick={() => copy(address.url, "Copied the URL")}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
