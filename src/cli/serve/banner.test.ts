import { expect, test } from "vitest";
import { type BannerFacts, bannerJson, bannerText } from "./banner.ts";

const FACTS: BannerFacts = {
  version: "1.2.3",
  program: "dragoman",
  readyMs: 83.7,
  url: "http://127.0.0.1:2024",
  publicUrl: undefined,
  grpc: undefined,
  admin: undefined,
  auth: ["none"],
  agents: ["echo", "countdown"],
  defaultAgent: "echo",
  data: "/home/me/.dragoman",
  off: [],
  unfinished: new Map(),
  watching: false,
};
const PLAIN = { bold: (text: string) => text, dim: (text: string) => text };

const CURL =
  `curl -s http://127.0.0.1:2024/ -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d ` +
  `'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}'`;

test("the banner shows the URLs of agents and cards, the data folder, and commands to try", () => {
  expect(bannerText(FACTS, PLAIN)).toBe(`Dragoman 1.2.3 ready in 84 ms

  echo       http://127.0.0.1:2024/
             http://127.0.0.1:2024/agents/echo
             http://127.0.0.1:2024/agents/echo/.well-known/agent-card.json
  countdown  http://127.0.0.1:2024/agents/countdown
             http://127.0.0.1:2024/agents/countdown/.well-known/agent-card.json

  data       /home/me/.dragoman

  try        dragoman call http://127.0.0.1:2024 "hello"
             ${CURL}
`);
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

  try        dragoman call http://127.0.0.1:2024 "hello" --header "Authorization: Bearer $TOKEN"
             curl -s http://127.0.0.1:2024/ -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -H "Authorization: Bearer $TOKEN" -d`);
});

test("programs get the same as one line of JSON", () => {
  expect(bannerJson(FACTS)).not.toContain("\n");
  expect(JSON.parse(bannerJson(FACTS))).toEqual({
    ready: true,
    version: "1.2.3",
    readyMs: 84,
    url: "http://127.0.0.1:2024",
    data: "/home/me/.dragoman",
    unfinished: {},
    agents: [
      {
        name: "echo",
        default: true,
        url: "http://127.0.0.1:2024/agents/echo",
        card: "http://127.0.0.1:2024/agents/echo/.well-known/agent-card.json",
      },
      {
        name: "countdown",
        default: false,
        url: "http://127.0.0.1:2024/agents/countdown",
        card: "http://127.0.0.1:2024/agents/countdown/.well-known/agent-card.json",
      },
    ],
  });
});
