import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StartupError } from "../lib/startup-error.ts";
import { LIMITS } from "../model/index.ts";
import { type FlagValues, readSettings, type Settings } from "./config.ts";
import { envName, flagName, getOption, OPTION_GROUPS, OPTION_NAMES, OPTIONS } from "./options/index.ts";

let empty: string;
beforeAll(() => {
  empty = mkdtempSync(join(tmpdir(), "dragoman-config-"));
});
afterAll(() => rmSync(empty, { recursive: true }));

const read = (flags: FlagValues = {}, env: Record<string, string> = {}) =>
  readSettings({ cwd: empty, flags, env });

let files = 0;
/** A config file in a folder of its own: no test sees the file of another. */
function configFile(source: string): string {
  const folder = mkdtempSync(join(empty, "c-"));
  const file = join(folder, `settings-${++files}.mjs`);
  writeFileSync(file, source);
  return file;
}

const problemsOf = async (settings: Promise<Settings>): Promise<readonly string[]> => {
  const failure = await settings.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(StartupError);
  return (failure as StartupError).problems;
};

/** A text for each option that is not a number. */
const TEXTS: Record<string, string> = {
  host: "::1",
  tlsCert: "/tls/server.crt",
  tlsKey: "/tls/server.key",
  data: ":memory:",
  default: "echo",
  publicUrl: "https://example.org/a//",
  trustProxy: "yes",
  httpFastPath: "no",
  cardPolicy: "v1",
  console: "read",
  versionPolicy: "strict",
  errorTable: "1.0.0",
  langgraph: "off",
  langgraphApi: "off",
  orloj: "strict",
  arbiter: "off",
  simple: "strict",
  openai: "on",
  aisdk: "on",
  agui: "on",
  catalog: "on",
  grpcReflection: "on",
  v11: "on",
  durability: "process",
  acceptDataLoss: "yes",
  logLevel: "debug",
  auth: "tokens, api-key",
  insecure: "yes",
  apiKeys: '[{ "key": "sixteen letters!", "principal": "alice" }]',
  apiKeyHeader: "X-Key",
  jwt: '{ "issuer": "https://login.example", "audience": "agents", "claims": { "tenant": ["org", "id"] } }',
  tlsClientCa: "/tls/callers.crt",
  clientCertificates:
    '[{ "commonName": "robot", "principal": "bob", "tenant": ["acme"], "scopes": ["read"] }]',
  cors: "https://console.example",
  allowedHosts: "agents.test, other.test",
  signCards: "no",
  keyFile: "/keys/here.json",
  keys: "{}",
  keysCommand: "vault read keys",
  oauth: '{ "github": { "authorizationUrl": "https://a", "tokenUrl": "https://t", "clientId": "c" } }',
  metrics: "no",
  healthPrefix: "/internal",
  adminHost: "::1",
  logBodies: "yes",
  traceContent: "yes",
  notify: "nats://host:4222",
  databaseDirectUrl: "postgres://u@host/d",
  quotas: '{ "caller": { "callsPerSecond": 5 } }',
  hopsMax: "7",
  callAllow: "inside.test, 10.0.0.0/8",
  mcp: "yes",
  a2a: "no",
  authFile: "auth.ts:auth",
  mcpServers: '{ "files": { "command": "files" } }',
  items: '{ "fields": ["text"], "ttlMs": 5 }',
  pushAllow: "inside.test, 10.0.0.0/8",
  pushAllowLoopback: "yes",
  pushHttp: "yes",
  pushSnapshot: "no",
  agents: "a.ts, b/*.ts",
};

const IDENTITY = { tenants: ["default"], grants: ["send", "read", "cancel", "push"] };
/** The values of these texts. */
const VALUES: Record<string, unknown> = {
  ...TEXTS,
  publicUrl: "https://example.org/a",
  trustProxy: true,
  httpFastPath: false,
  auth: ["tokens", "api-key"],
  insecure: true,
  acceptDataLoss: true,
  // The settings contain the hash only.
  apiKeys: [{ ...IDENTITY, principal: "alice", hash: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  jwt: [
    {
      issuer: "https://login.example",
      audience: ["agents"],
      skewSeconds: 30,
      claims: { ...IDENTITY, principal: "sub", prefix: "", tenant: ["org", "id"], scopeNames: {} },
    },
  ],
  clientCertificates: [{ commonName: "robot", principal: "bob", tenants: ["acme"], grants: ["read"] }],
  cors: ["https://console.example"],
  allowedHosts: ["agents.test", "other.test"],
  signCards: false,
  keysCommand: ["vault", "read", "keys"],
  oauth: { github: { authorizationUrl: "https://a", tokenUrl: "https://t", clientId: "c" } },
  metrics: false,
  logBodies: true,
  traceContent: true,
  quotas: { caller: { callsPerSecond: 5 } },
  hopsMax: 7,
  callAllow: ["inside.test", "10.0.0.0/8"],
  mcp: true,
  a2a: false,
  authFile: expect.stringMatching(/auth\.ts:auth$/),
  mcpServers: { files: { command: "files" } },
  items: { fields: ["text"], ttlMs: 5 },
  pushAllow: ["inside.test", "10.0.0.0/8"],
  pushAllowLoopback: true,
  pushHttp: true,
  pushSnapshot: false,
  agents: ["a.ts", "b/*.ts"],
};

describe("settings", () => {
  test("are the defaults where nothing is set", async () => {
    const { agentsFolder, configFiles, warnings, portChosen, ...settings } = await read();
    const defaults = OPTION_NAMES.map(name => [name, OPTIONS[name].default]);
    expect(settings).toEqual({ ...Object.fromEntries(defaults), data: join(empty, ".dragoman") });
    expect({ agentsFolder, configFiles, warnings }).toEqual({
      agentsFolder: empty,
      configFiles: [],
      warnings: [],
    });
    expect(portChosen).toBe(false);
    expect(settings).toMatchObject({ port: 2024, host: "127.0.0.1", durability: "power", auth: ["none"] });
  });

  test("come from flags over environment over config file over defaults", async () => {
    const config = configFile("export default { port: 1, host: 'a', logLevel: 'warn' }");
    const settings = await read({ config, port: "3" }, { DRAGOMAN_PORT: "2", DRAGOMAN_HOST: "b" });
    expect(settings).toMatchObject({ port: 3, host: "b", logLevel: "warn", runsMax: LIMITS.runsMax });
    expect(settings.configFiles).toEqual([config]);
    expect(settings.portChosen).toBe(true);
  });

  test("are found under every option's variable and flag", async () => {
    for (const name of OPTION_NAMES) {
      const text = TEXTS[name] ?? "4321";
      const expected = { [name]: VALUES[name] ?? 4321 };
      expect(await read({}, { [envName(name)]: text })).toMatchObject(expected);
      if (name !== "agents") expect(await read({ [name]: text })).toMatchObject(expected);
    }
  });

  test("may be given by flags as values, and undefined is not given", async () => {
    expect(await read({ port: 0, trustProxy: true, host: undefined })).toMatchObject({
      port: 0,
      trustProxy: true,
      host: "127.0.0.1",
    });
  });

  test("take an empty variable as not set", async () => {
    expect(await read({}, { DRAGOMAN_PORT: "" })).toMatchObject({ port: 2024, portChosen: false });
  });

  test("place a relative data folder where it was written down", async () => {
    const config = configFile("export default { data: 'tasks', tlsCert: 'server.crt' }");
    expect((await read({ config })).tlsCert).toBe(join(dirname(config), "server.crt"));
    expect((await read({ config })).data).toBe(join(config, "..", "tasks"));
    expect((await read({ config, data: "tasks" })).data).toBe(join(empty, "tasks"));
    expect((await read({ data: "/var/tasks" })).data).toBe("/var/tasks");
  });

  test("take agents from the last source that names some, with the folder where they start", async () => {
    const config = configFile("export default { agents: ['./a.ts', { name: 'b', run() {} }] }");
    expect(await read({ config })).toMatchObject({
      agents: ["./a.ts", { name: "b" }],
      agentsFolder: join(config, ".."),
    });
    expect(await read({ config, agents: ["c.ts"] })).toMatchObject({ agents: ["c.ts"], agentsFolder: empty });
    expect(await read({ config, agents: [] })).toMatchObject({ agentsFolder: join(config, "..") });
  });
});

describe("a config file", () => {
  const folderWith = (name: string, source: string): string => {
    const folder = mkdtempSync(join(empty, "d-"));
    writeFileSync(join(folder, name), source);
    return folder;
  };

  test("is found in the folder where the server is started", async () => {
    for (const name of ["dragoman.config.js", "dragoman.config.mjs", "dragoman.config.ts"]) {
      const cwd = folderWith(name, "export default { port: 7 }");
      writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
      expect(await readSettings({ cwd, env: {} })).toMatchObject({ port: 7, configFiles: [join(cwd, name)] });
    }
  });

  test("may be given by its name among the agents, and by a variable", async () => {
    const cwd = folderWith("dragoman.config.mjs", "export default { port: 8 }");
    const file = join(cwd, "dragoman.config.mjs");
    expect(await read({ agents: ["a.ts", file] })).toMatchObject({ port: 8, agents: ["a.ts"] });
    expect(await read({}, { DRAGOMAN_CONFIG: file })).toMatchObject({ port: 8 });
  });

  test("that does not exist is an error, if it was named", async () => {
    expect(await problemsOf(read({ config: "nowhere.ts" }))).toEqual([
      `Config file not found: ${join(empty, "nowhere.ts")}`,
    ]);
  });

  test("with an unknown option is refused with the name that was probably meant", async () => {
    const config = configFile("export default { prot: 1, 'public-url': '', colour: 'red' }");
    expect(await problemsOf(read({ config }))).toEqual([
      `${config}: there is no option "prot" (did you mean "port"?)`,
      `${config}: there is no option "public-url" (did you mean "publicUrl"?)`,
      `${config}: there is no option "colour"`,
    ]);
  });

  test("without a default export is refused", async () => {
    const config = configFile("export const port = 1");
    expect((await problemsOf(read({ config })))[0]).toMatch(/must `export default defineConfig\(\{ … \}\)`/);
    const list = configFile("export default []");
    expect((await problemsOf(read({ config: list })))[0]).toMatch(/its default export is a list of 0/);
  });

  test("must write numbers as numbers", async () => {
    const config = configFile("export default { port: '1' }");
    expect(await problemsOf(read({ config }))).toEqual([
      `port: expected a whole number from 0 to 65535, got "1" (from ${config})`,
    ]);
  });
});

describe("LangGraph's own switch in a config file", () => {
  const http = (value: string) => configFile(`export default { langgraph: "strict", http: ${value} };`);

  test("turns A2A off, unless a source that overrides the file says otherwise", async () => {
    const off = http("{ disable_a2a: true }");
    expect((await read({ config: off })).a2a).toBe(false);
    expect((await read({ config: off, a2a: true })).a2a).toBe(true);
    expect((await read({ config: http("{ disable_a2a: false }") })).a2a).toBe(true);
  });

  test("accepts exactly this key with a boolean", async () => {
    for (const value of ["true", "{}", "{ disable_a2a: 1 }", "{ disable_a2a: true, disable_mcp: true }"])
      expect(await problemsOf(read({ config: http(value) }))).toEqual([
        expect.stringMatching(/^http: expected { disable_a2a: true } or .*, got .* \(from .*\.mjs\)$/),
      ]);
  });
});

test("a secret that is wrong is not shown", async () => {
  expect(await problemsOf(read({}, { DRAGOMAN_OAUTH: "hunter2" }))).toEqual([
    "oauth: expected an object such as { github: { authorizationUrl, tokenUrl, clientId, clientSecret, scopes } }, " +
      "got another value, which is not shown (from DRAGOMAN_OAUTH)",
  ]);
  const problems = await problemsOf(
    read({}, { DRAGOMAN_OAUTH: '{ "github": { "clientSecret": "hunter2" } }' }),
  );
  expect(problems.join()).toMatch(/^oauth\.github\.authorizationUrl/);
  expect(problems.join()).not.toContain("hunter2");
});

describe("a wrong value", () => {
  const wrong: readonly (readonly [string, string, string])[] = [
    ["port", "abc", "a whole number from 0 to 65535"],
    ["port", "65536", "a whole number from 0 to 65535"],
    ["port", "-1", "a whole number from 0 to 65535"],
    ["port", "1.5", "a whole number from 0 to 65535"],
    ["host", "a b", "a host name or an address"],
    ["data", "mysql://localhost/x", 'a folder, postgres://USER@HOST/DATABASE, or ":memory:"'],
    ["default", "My Agent", "an agent's name (1 to 64"],
    ["publicUrl", "example.org", "an absolute http or https URL without query"],
    ["publicUrl", "ftp://example.org", "an absolute http or https URL without query"],
    ["publicUrl", "https://example.org/?a=1", "an absolute http or https URL without query"],
    ["publicUrl", "https://a:b@example.org", "an absolute http or https URL without query"],
    ["trustProxy", "maybe", "true or false"],
    ["cardPolicy", "v3", '"hybrid" or "v1"'],
    ["logLevel", "loud", '"trace" or "debug" or'],
    ["heartbeatMs", "99", "a whole number from 100 to"],
    ["attemptsMax", "0", "a whole number from 1 to"],
  ];
  test.each(wrong)("of %s (%s) names option, expectation and origin", async (name, value, expected) => {
    const [fromEnv] = await problemsOf(read({}, { [envName(name)]: value }));
    expect(fromEnv).toContain(`${name}: expected ${expected}`);
    expect(fromEnv).toContain(`got "${value}" (from ${envName(name)})`);
    const [fromFlag] = await problemsOf(read({ [name]: value }));
    expect(fromFlag).toContain(`(from ${flagName(name)})`);
  });

  test("does not hide another one", async () => {
    const problems = await problemsOf(read({ port: "x" }, { DRAGOMAN_HOST: "a/b", DRAGOMAN_PROT: "1" }));
    expect(problems).toHaveLength(3);
  });
});

test("a variable that differs from an option in one character is an error, and any other is not", async () => {
  expect(await problemsOf(read({}, { DRAGOMAN_PROT: "1" }))).toEqual([
    "There is no variable DRAGOMAN_PROT (did you mean DRAGOMAN_PORT?)",
  ]);
  expect(await read({}, { DRAGOMAN_TOKEN: "x", DRAGOMAN_HOME: "/", DRAGOMAN_BENCH: "1" })).toBeDefined();
});

test("a flag that does not exist is an error", async () => {
  expect(await problemsOf(read({ publicURI: "x" }))).toEqual([
    'There is no flag --public-u-r-i (did you mean "publicUrl"?)',
  ]);
});

test("every option has a variable, a flag, a line of help and a group", () => {
  expect(envName("publicUrl")).toBe("DRAGOMAN_PUBLIC_URL");
  expect(flagName("bodyBytesMax")).toBe("--body-bytes-max");
  for (const name of OPTION_NAMES) expect(getOption(name).help).toMatch(/^[A-Z].*[^.]$/);
  const grouped = OPTION_GROUPS.flatMap(group => group.names);
  expect([...grouped, "agents"].toSorted()).toEqual(OPTION_NAMES.toSorted());
});

describe("the former name of a renamed option", () => {
  const url = "nats://host:4222";

  test("works as flag, variable and config key, with a warning", async () => {
    const config = configFile(`export default { bell: "${url}", firstWordMs: 5 }`);
    expect(await read({ config })).toMatchObject({
      notify: url,
      firstEventTimeoutMs: 5,
      warnings: [
        `${config}: "bell" is deprecated: use "notify"`,
        `${config}: "firstWordMs" is deprecated: use "firstEventTimeoutMs"`,
      ],
    });
    expect(await read({}, { DRAGOMAN_BELL: url })).toMatchObject({
      notify: url,
      warnings: ["DRAGOMAN_BELL is deprecated: use DRAGOMAN_NOTIFY"],
    });
    expect(await read({ bell: url })).toMatchObject({
      notify: url,
      warnings: ["--bell is deprecated: use --notify"],
    });
  });

  test("is overridden by the new name in the same source, and by a later source", async () => {
    expect((await read({ bell: url, notify: "nats://new" })).notify).toBe("nats://new");
    expect((await read({ bell: "nats://flag" }, { DRAGOMAN_NOTIFY: url })).notify).toBe("nats://flag");
  });
});
