import type { Command } from "commander";
import { expect, it } from "vitest";
import { bannedWords, duplicateTypes, exportsOf, importCycles, unusedPermissions } from "./support/guards.ts";
import { commands } from "./support/tidy-tables.ts";
import { filesBelow, placesOf, readTree, toSource } from "./support/tidy-tree.ts";

const isTest = (path: string): boolean => path.endsWith(".test.ts");
const FILES = filesBelow("");
const SOURCES = FILES.filter(({ path }) => /^src\/.*\.ts$/.test(path) && !isTest(path)).map(toSource);

it("no exported type name is defined twice in src", () => {
  expect(duplicateTypes(SOURCES)).toEqual([]);
  const twice = ["src/a.ts", "src/b.ts"].map(path => toSource({ path, text: "export interface Row {}\n" }));
  expect(duplicateTypes(twice)).toEqual(["Row: src/a.ts, src/b.ts"]);
});

/** The files with the rule itself, for people and for the test. */
const LISTS_THEM = new Set(["STYLE.md", "test/support/guards.ts"]);

it("comments, messages and documents have no pronoun for an unnamed person", () => {
  const read = FILES.filter(({ path }) => /\.(?:ts|md|html|yml)$/.test(path));
  expect(read.filter(({ path }) => !LISTS_THEM.has(path)).flatMap(bannedWords)).toEqual([]);
});

it("commands in documents and messages begin with npx, which works in a clone, in a project and globally", async () => {
  const names = (await commands()).map(command => command.name()).join("|");
  const isShown = ({ path }: { path: string }): boolean =>
    (/\.(?:md|yml)$/.test(path) && !/^docs\/(?:decisions|reference\/api)\/|^CHANGELOG/.test(path)) ||
    // The program puts the name by which it was started into its own examples.
    (/^(?:src|examples)\/.*\.ts$/.test(path) && !path.startsWith("src/cli/") && !isTest(path));
  const bare = new RegExp(`(?<=[\`"'] ?|: |\\(|and |with )dragoman (?:${names})\\b`, "g");
  const places = FILES.filter(isShown).flatMap(file => placesOf(file, file.text, bare));
  // Comments are for readers of the code.
  expect(places.filter(place => !/: (?:\/\/|\/?\*|name: )/.test(place))).toEqual([]);
});

it("no file imports itself through others", () => {
  expect(importCycles(SOURCES)).toEqual([]);
  const text = (from: string): string => `import type { X } from "./${from}.ts";\n`;
  const cycle = [
    toSource({ path: "src/a.ts", text: text("b") }),
    toSource({ path: "src/b.ts", text: text("a") }),
  ];
  expect(importCycles(cycle)).toEqual(["src/a.ts → src/b.ts → src/a.ts"]);
});

it("every permission in the table of folders is used", () => {
  expect(unusedPermissions(SOURCES)).toEqual([]);
});

it("only index.ts and folders are at the top of src", () => {
  expect(FILES.map(({ path }) => path).filter(path => /^src\/[^/]+\.ts$/.test(path))).toEqual([
    "src/index.ts",
  ]);
});

const flagsOf = (command: Command, parent: string): readonly string[] => {
  const name = `${parent} ${command.name()}`;
  const flags = command.options.filter(option => !option.hidden).map(option => option.flags);
  return [`${name}: ${flags.join(" | ")}`, ...command.commands.flatMap(one => flagsOf(one, name))];
};

/** Changing these names affects users: the old spelling must continue to work. */
it("the public names are those of test/public-names.txt", async () => {
  const byPath = new Map(SOURCES.map(source => [source.path, source]));
  const { exports } = JSON.parse(readTree("package.json").text) as {
    exports: Record<string, string | { default: string }>;
  };
  const modules = Object.entries(exports).flatMap(([name, target]) => {
    if (typeof target === "string") return [];
    const file = target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [`${name.replace(".", "dragoman")}: ${exportsOf(file, byPath).join(" ")}`];
  });
  const all = (await commands()).flatMap(command => flagsOf(command, "dragoman"));
  await expect(`${[...modules, ...all].join("\n")}\n`).toMatchFileSnapshot("./public-names.txt");
});
