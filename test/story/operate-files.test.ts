/** The files for Compose and Kubernetes agree with the server and with the Dockerfile: ports, probes, options, times. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readSettings } from "../../src/config/config.ts";
import { envName, OPTION_NAMES } from "../../src/config/options/index.ts";
import { LIMITS } from "../../src/model/limits.ts";
import { BLOCKS } from "../support/documents/blocks.ts";
import { ROOT } from "../support/tidy-tree.ts";

const fileOf = (name: string): string => readFileSync(join(ROOT, "docs/operate", name), "utf8");
const listAfter = (text: string, word: string): string[] =>
  JSON.parse(new RegExp(`^${word} (\\[.*\\])$`, "m").exec(text)?.[1] as string);

const ENTRYPOINT = listAfter(fileOf("Dockerfile"), "ENTRYPOINT");
const PORTS = /^EXPOSE (.+)$/m.exec(fileOf("Dockerfile"))?.[1]?.split(" ").map(Number);
const STOP_SECONDS = (LIMITS.drainMs + LIMITS.cancelGraceMs) / 1_000;

/** The values that the server would have with these arguments after those of the image. */
const settingsWith = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const words = [...ENTRYPOINT.slice(2), ...args].filter(word => word !== "agents/*.ts");
  const flags: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 2)
    flags[(words[at] as string).slice(2).replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase())] = words[
      at + 1
    ] as string;
  expect(Object.keys(flags).filter(name => !(OPTION_NAMES as readonly string[]).includes(name))).toEqual([]);
  return readSettings({ cwd: ROOT, flags, env });
};

it("Compose: the nodes have the ports of the image, valid options, and time to stop", async () => {
  const { services, volumes } = parse(fileOf("compose.yaml"));
  const { agents, database } = services;
  const command = agents.command.map((word: string) => word.replace(/\$\{\w+:\?\}/, "secret"));
  const settings = await settingsWith(command);
  expect([settings.data, settings.auth]).toEqual([
    "postgres://dragoman:secret@database/dragoman",
    ["tokens"],
  ]);
  expect(agents.expose.map(Number)).toEqual(PORTS);
  expect([settings.port, settings.adminPort]).toEqual(PORTS);
  expect(Number.parseInt(agents.stop_grace_period, 10)).toBeGreaterThan(STOP_SECONDS);
  expect(Object.keys(agents.environment)).toEqual([envName("keys")]);
  expect(Object.keys(agents.depends_on)).toEqual(["database"]);
  expect(database.environment.POSTGRES_DB).toBe("dragoman");
  expect(Object.keys(volumes).sort()).toEqual(["certificates", "database"]);
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: the fields are checked against their types in test/judges.
  readonly [member: string]: any;
}

const manifestsOf = (text: string): readonly Manifest[] => parseAllDocuments(text).map(one => one.toJS());
const SINGLE = BLOCKS.find(({ file }) => file === "single-node.yaml")?.text as string;

it("Kubernetes: names, labels and ports lead from the Ingress to the container", () => {
  const all = manifestsOf(fileOf("kubernetes.yaml"));
  const [deployment, service, ingress, secret] = ["Deployment", "Service", "Ingress", "Secret"].map(kind =>
    all.find(one => one.kind === kind),
  );
  const { metadata, spec } = deployment?.spec.template ?? {};
  expect(deployment?.spec.selector.matchLabels).toEqual(metadata.labels);
  expect(service?.spec.selector).toEqual(metadata.labels);
  const backend = ingress?.spec.rules[0].http.paths[0].backend.service;
  expect([backend.name, backend.port.name]).toEqual([service?.metadata.name, service?.spec.ports[0].name]);
  const [container] = spec.containers;
  expect(container.ports.map((port: { name: string }) => port.name)).toContain(
    service?.spec.ports[0].targetPort,
  );
  expect(container.envFrom[0].secretRef.name).toBe(secret?.metadata.name);
  expect(metadata.annotations["prometheus.io/port"]).toBe(String(PORTS?.[1]));
});

it.each([
  ["kubernetes.yaml", fileOf("kubernetes.yaml")],
  ["the manifest of a single node", SINGLE],
])(
  "Kubernetes: %s has the ports of the image, probes that exist, valid options, and time to stop",
  async (_, text) => {
    const all = manifestsOf(text);
    const { spec } = all.find(one => one.kind === "Deployment")?.spec.template ?? {};
    const [container] = spec.containers;
    const env = all.find(one => one.kind === "Secret")?.stringData ?? {};
    const settings = await settingsWith(container.args, env);
    expect(container.ports.map((port: { containerPort: number }) => port.containerPort)).toEqual(PORTS);
    expect([settings.port, settings.adminPort, settings.host]).toEqual([...(PORTS ?? []), "0.0.0.0"]);
    for (const [probe, path] of [
      ["livenessProbe", "/livez"],
      ["readinessProbe", "/readyz"],
    ] as const)
      expect(container[probe]?.httpGet ?? { path, port: "admin" }).toEqual({ path, port: "admin" });
    const waiting = container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(STOP_SECONDS + waiting);
  },
);
