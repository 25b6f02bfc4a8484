import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAddressRules } from "./address-rules.ts";
import { createGuardedFetch, type GuardedFetch, type GuardedFetchParts } from "./guarded-fetch.ts";

let server: Server;
let port: number;
let requests: number;
const open: GuardedFetch[] = [];

beforeEach(async () => {
  requests = 0;
  server = createServer((request, response) => {
    requests += 1;
    if (request.url === "/elsewhere") response.writeHead(302, { Location: "/" });
    response.end("hello");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(one => one.close()));
  server.close();
});

function guard(parts: Partial<GuardedFetchParts> = {}): GuardedFetch {
  const made = createGuardedFetch({ allow: [], loopback: false, http: true, connectMs: 2_000, ...parts });
  open.push(made);
  return made;
}

/** What comes of a call: the status, or the name of the refusal. */
async function call({ fetch }: GuardedFetch, url: string): Promise<number | string> {
  try {
    const response = await fetch(url);
    await response.text();
    return response.status;
  } catch (error) {
    return ((error as Error).cause as Error).name;
  }
}

const INSIDE = [
  ..."0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16".split(" "),
  ..."169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1".split(" "),
  ..."198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255".split(" "),
  ..."::  ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1".split(" "),
  ..."64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:10::1 2001:db8::1".split(" "),
  ..."2002:7f00:1::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1".split(" "),
].filter(one => one !== "");

const OUTSIDE = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"];

describe("addresses", () => {
  const { isAllowed } = createAddressRules({ allow: [], loopback: false });
  it.each(INSIDE)("%s is inside", address => expect(isAllowed(address, "x.example")).toBe(false));
  it.each(OUTSIDE)("%s is outside", address => expect(isAllowed(address, "x.example")).toBe(true));

  it("what is no address is refused", () => {
    for (const one of ["", "localhost", "1.2.3", "2130706433"]) expect(isAllowed(one, one)).toBe(false);
  });

  it("names, addresses and networks can be allowed, and nothing beside them is", () => {
    const some = createAddressRules({ allow: ["Hook.Internal", "10.1.0.0/16", "fd00::/8"], loopback: false });
    expect(some.isAllowed("10.9.9.9", "hook.internal.")).toBe(true);
    expect(some.isAllowed("10.9.9.9", "other.internal")).toBe(false);
    expect(some.isAllowed("10.1.2.3", "other.internal")).toBe(true);
    expect(some.isAllowed("fd00::1", "x")).toBe(true);
    expect(some.isAllowed("fe80::1", "x")).toBe(false);
  });

  it("loopback can be allowed, and nothing that only leads there", () => {
    const own = createAddressRules({ allow: [], loopback: true });
    for (const one of ["127.0.0.1", "127.8.8.8", "::1"]) expect(own.isAllowed(one, "x")).toBe(true);
    for (const one of ["0.0.0.0", "10.0.0.1", "64:ff9b::7f00:1"]) expect(own.isAllowed(one, "x")).toBe(false);
  });
});

describe("a guarded call", () => {
  /** URL parsers read all of them as 127.0.0.1. */
  const SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.1.",
  ];
  const OTHERS = [
    "0",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "localhost",
    "localhost.",
  ];

  it.each([...SPELLINGS, ...OTHERS])("to http://%s is refused when it is dialled", async host => {
    expect(await call(guard(), `http://${host}:${port}/`)).toBe("AddressRefusal");
    expect(requests).toBe(0);
  });

  it("is made if the address is allowed, however it is written", async () => {
    const loopback = guard({ loopback: true });
    for (const host of [...SPELLINGS, "localhost"])
      expect(await call(loopback, `http://${host}:${port}/`)).toBe(200);
    expect(await call(guard({ allow: ["127.0.0.0/8"] }), `http://127.0.0.1:${port}/`)).toBe(200);
    expect(await call(guard({ allow: ["localhost"] }), `http://localhost:${port}/`)).toBe(200);
  });

  it("is checked with the address that is dialled: a name that changes its mind gains nothing", async () => {
    const answers = [["127.0.0.1"], ["10.0.0.1"], ["8.8.8.8", "127.0.0.2"], []];
    let asked = 0;
    const fickle = guard({
      allow: ["127.0.0.1"],
      resolve: async () => answers[asked++] as string[],
    });
    const outcomes: unknown[] = [];
    for (const path of ["a", "b", "c", "d"])
      outcomes.push(await call(fickle, `http://${path}.rebind.example:${port}/`));
    expect(outcomes).toEqual([200, "AddressRefusal", "AddressRefusal", "AddressRefusal"]);
    expect([asked, requests]).toEqual([4, 1]);
  });

  it("follows no redirect", async () => {
    expect(await call(guard({ loopback: true }), `http://127.0.0.1:${port}/elsewhere`)).toBe(302);
    expect(requests).toBe(1);
  });
});

describe("a URL tells by itself", () => {
  const refusal = (url: string, parts: Partial<GuardedFetchParts> = { http: false }): string | undefined =>
    guard(parts).refusalOf(new URL(url));

  it("that it is in clear text", () => {
    expect(refusal("http://hook.example/")).toMatch(/https/);
    expect(refusal("ftp://hook.example/", { http: true })).toMatch(/https/);
    expect(refusal("http://hook.example/", { http: true })).toBeUndefined();
    expect(refusal("http://localhost:1/", { http: false, loopback: true })).toBeUndefined();
    expect(refusal("http://[::1]:1/", { http: false, loopback: true })).toBeUndefined();
    expect(refusal("http://10.0.0.1/", { http: false, allow: ["10.0.0.1"] })).toMatch(/https/);
  });

  it("that it points inside", () => {
    for (const host of ["localhost", "a.localhost", "10.0.0.1", "0x7f.1", "[fd00::1]", "[::ffff:1.1.1.1]"])
      expect(refusal(`https://${host}/`)).toMatch(/internal/);
    for (const host of ["hook.example", "1.1.1.1", "[2606:4700::1]"])
      expect(refusal(`https://${host}/`)).toBeUndefined();
    expect(refusal("https://localhost/", { allow: ["localhost"] })).toBeUndefined();
    expect(refusal("https://10.1.2.3/", { allow: ["10.0.0.0/8"] })).toBeUndefined();
  });
});
