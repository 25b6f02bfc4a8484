/** Every field of the manifests has a name and a type of the Kubernetes API, as the package kubernetes-types describes it. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { BLOCKS } from "../support/documents/blocks.ts";
import { ROOT } from "../support/tidy-tree.ts";
import { installPackages } from "./install.ts";

const MODULES: Readonly<Record<string, string>> = {
  Secret: "core/v1",
  Service: "core/v1",
  Deployment: "apps/v1",
  PodDisruptionBudget: "policy/v1",
  Ingress: "networking/v1",
};

const folder = installPackages("kubernetes", ["kubernetes-types@1.30.0"]);

describe.skipIf(folder === undefined)("Kubernetes", () => {
  const single = BLOCKS.find(({ file }) => file === "single-node.yaml")?.text as string;
  it.each([
    ["kubernetes.yaml", readFileSync(join(ROOT, "docs/operate/kubernetes.yaml"), "utf8")],
    ["single-node.yaml", single],
  ])("%s passes the compiler", (name, text) => {
    const lines = parseAllDocuments(text).flatMap((document, at) => {
      const { kind } = document.toJS();
      const type = `import("kubernetes-types/${MODULES[kind]}").${kind}`;
      return [`export const manifest${at}: ${type} = ${JSON.stringify(document.toJS())};`];
    });
    const file = join(folder as string, `${name}.ts`);
    writeFileSync(file, `${lines.join("\n")}\n`);
    const flags = [
      "--noEmit",
      "--strict",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--ignoreConfig",
      file,
    ];
    expect(() => execFileSync(join(ROOT, "node_modules/.bin/tsc"), flags, { stdio: "pipe" })).not.toThrow();
  });
});
