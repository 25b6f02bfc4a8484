import { expect, test } from "vitest";
import { type BannerFacts, type BannerStyle, bannerJson, bannerText } from "./banner.ts";

const FACTS: BannerFacts = {
  version: "1.2.3",
  program: "dragoman",
  readyMs: 83.7,
  url: "http://127.0.0.1:2024",
  publicUrl: undefined,
  console: undefined,
  docs: "http://127.0.0.1:2024/docs",
  mcp: "http://127.0.0.1:2024/mcp",
  grpc: undefined,
  admin: undefined,
  auth: ["none"],
  agents: [
    { name: "echo", description: "Repeats your message. And more", assistantId: "id-of-echo" },
    { name: "countdown", description: "", assistantId: "id-of-countdown" },
  ],
  reason: "the files in agents/, found in this folder",
  defaultAgent: "echo",
  data: "/home/me/.dragoman",
  off: [],
  unfinished: new Map(),
  watching: false,
};
const PLAIN: BannerStyle = { bold: text => text, dim: text => text, columns: undefined, verbose: false };

const CURL =
  `curl -s http://127.0.0.1:2024/agents/echo -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d ` +
  `'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}'`;

test("the banner has one line for each agent, says why they are served, and has commands to try", () => {
  expect(bannerText(FACTS, PLAIN)).toBe(`Dragoman 1.2.3 ready in 84 ms

  echo       http://127.0.0.1:2024/agents/echo/, also at http://127.0.0.1:2024/  Repeats your message.
  countdown  http://127.0.0.1:2024/agents/countdown/

  serving    the files in agents/, found in this folder
  docs       http://127.0.0.1:2024/docs
  MCP        http://127.0.0.1:2024/mcp
  data       /home/me/.dragoman

  try        dragoman call http://127.0.0.1:2024 "hello"
             ${CURL}
`);
});

test("on a narrow terminal an address is whole and a description is omitted", () => {
  const text = bannerText(FACTS, { ...PLAIN, columns: 80 });
  expect(text).toContain(
    "\n  echo       http://127.0.0.1:2024/agents/echo/, also at http://127.0.0.1:2024/\n",
  );
});

test("with --verbose it also shows cards, assistants and gRPC", () => {
  const text = bannerText(FACTS, { ...PLAIN, verbose: true });
  expect(text).toContain(`
  echo       http://127.0.0.1:2024/agents/echo/, also at http://127.0.0.1:2024/
             http://127.0.0.1:2024/agents/echo/.well-known/agent-card.json
             assistant id-of-echo
`);
  expect(text).toContain("\n  gRPC       127.0.0.1:2024\n");
});

test("the console comes first, if there is one", () => {
  const text = bannerText({ ...FACTS, console: "http://127.0.0.1:2024/console" }, PLAIN);
  expect(text).toContain("ready in 84 ms\n\n  console    http://127.0.0.1:2024/console\n\n  echo ");
});

test("it warns of memory, shows the public URL and separate ports, and counts unfinished tasks", () => {
  const unfinished = new Map([
    ["echo", 1],
    ["countdown", 2],
  ]);
  const addresses = {
    publicUrl: "https://a.example",
    grpc: "127.0.0.1:2025",
    admin: "http://127.0.0.1:9464",
  };
  const facts = { ...FACTS, ...addresses, data: undefined, unfinished, watching: true };
  expect(bannerText(facts, PLAIN)).toContain(`
  public     https://a.example
  docs       http://127.0.0.1:2024/docs
  MCP        http://127.0.0.1:2024/mcp
  gRPC       127.0.0.1:2025
  admin      http://127.0.0.1:9464
  data       in memory: tasks are lost at exit
  resuming   3 unfinished tasks: echo 1, countdown 2
`);
  expect(bannerText(facts, PLAIN)).toMatch(/\n\nWatching for changes; Ctrl-C stops\n$/);
});

test("it shows how callers authenticate, if they must", () => {
  const text = bannerText({ ...FACTS, auth: ["tokens", "mtls"] }, PLAIN);
  expect(text).toContain(`
  callers    authentication required (tokens, mtls)
             create a token: dragoman token create --principal me --data /home/me/.dragoman
             the commands below take it from the variable DRAGOMAN_TOKEN

  try        dragoman call http://127.0.0.1:2024 "hello"
             curl -s http://127.0.0.1:2024/agents/echo -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -H "Authorization: Bearer $DRAGOMAN_TOKEN" -d`);
});

test("programs get the same as one line of JSON", () => {
  expect(bannerJson(FACTS)).not.toContain("\n");
  expect(JSON.parse(bannerJson(FACTS))).toEqual({
    ready: true,
    version: "1.2.3",
    readyMs: 84,
    url: "http://127.0.0.1:2024",
    docs: "http://127.0.0.1:2024/docs",
    mcp: "http://127.0.0.1:2024/mcp",
    serving: "the files in agents/, found in this folder",
    data: "/home/me/.dragoman",
    unfinished: {},
    agents: [
      {
        name: "echo",
        default: true,
        url: "http://127.0.0.1:2024/agents/echo",
        card: "http://127.0.0.1:2024/agents/echo/.well-known/agent-card.json",
        assistantId: "id-of-echo",
      },
      {
        name: "countdown",
        default: false,
        url: "http://127.0.0.1:2024/agents/countdown",
        card: "http://127.0.0.1:2024/agents/countdown/.well-known/agent-card.json",
        assistantId: "id-of-countdown",
      },
    ],
  });
});
