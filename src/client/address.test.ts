import { expect, it } from "vitest";
import { isSameOrigin } from "./address.ts";

const CHOSEN = "https://agents.example/a2a";

it.each([
  "https://agents.example",
  "https://AGENTS.example:443/other?x=1",
  "grpcs://agents.example",
  "grpcs://Agents.Example:443",
])("%s is the same origin", address => {
  expect(isSameOrigin(address, CHOSEN)).toBe(true);
});

it.each([
  "https://agents.example:8443/a2a",
  "http://agents.example/a2a",
  "http://agents.example:443",
  "agents.example",
  "agents.example:443",
  "https://agents.example.",
  "https://agents.example.evil",
  "https://agents.example@evil.example/",
  "https://agents.example:443@evil.example/",
  "https://evil.example\\@agents.example/",
  "grpcs://agents.example\\@evil.example:443",
  "grpcs://agents.example:443\\@evil.example",
  "grpc://agents.example:443",
  "dns://agents.example:443",
  "unix:///agents.example",
  "https://",
  "",
])("%s is another one", address => {
  expect(isSameOrigin(address, CHOSEN)).toBe(false);
});

it("two addresses with schemes that browsers do not know are not the same origin", () => {
  expect(isSameOrigin("dns://a.example:1", "dns://a.example:1")).toBe(false);
  expect(isSameOrigin("127.0.0.1:50051", "http://127.0.0.1:50051")).toBe(true);
  expect(isSameOrigin("127.0.0.1:50051", "127.0.0.1:50052")).toBe(false);
  expect(isSameOrigin("localhost:50051", "grpc://127.0.0.1:50051")).toBe(true);
  expect(isSameOrigin("http://[::1]:2024/agents/a", "localhost:2024")).toBe(true);
  expect(isSameOrigin("localhost.example:50051", "127.0.0.1:50051")).toBe(false);
  expect(isSameOrigin("[::1]:50051", "grpc://[::1]:50051")).toBe(true);
});
