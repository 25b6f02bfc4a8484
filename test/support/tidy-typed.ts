import type { Command } from "commander";
import type { TypedCommand } from "./tidy-docs.ts";
import { filesBelow, readTree } from "./tidy-tree.ts";

/** Whether a command in a document exists. */

export const SCRIPTS = (JSON.parse(readTree("package.json").text) as { scripts: Record<string, string> })
  .scripts;
const FILES = new Set(filesBelow("").map(file => file.path));

export function isKnownCommand({ command }: TypedCommand, commands: readonly Command[]): boolean {
  const plain = command
    .replace(/'[^']*'|"[^"]*"/g, "…")
    .replace(/^(?:[A-Z_]+=\S+ )+/, "")
    .split(/ [|>&]/)[0] as string;
  const [first, second = "", third = "", ...rest] = plain.split(/\s+/);
  if (first === "npm" && second === "run")
    return third === "dev" ? hasFlags("dev", rest, commands) : Object.hasOwn(SCRIPTS, third);
  if (first === "npm" && second === "test") return true;
  if (first === "npm" && second === "start") return hasFlags("serve", [third, ...rest], commands);
  if (first === "dragoman") return isCommand([second, third, ...rest], commands);
  if (first === "npx" && second === "dragoman") return isCommand([third, ...rest], commands);
  if (first !== "npx" || second !== "node") return true;
  return FILES.has(third);
}

/** A word in capitals stands for any command. */
const isCommand = ([name = "", ...words]: readonly string[], commands: readonly Command[]): boolean =>
  name === "" ||
  /^[A-Z]+$/.test(name) ||
  ["--help", "--version"].includes(name) ||
  hasFlags(name, words, commands);

function hasFlags(name: string, words: readonly string[], commands: readonly Command[]): boolean {
  const [first = "", ...rest] = words;
  const command = commands.find(one => one.name() === name);
  if (command?.commands.some(one => one.name() === first)) return hasFlags(first, rest, command.commands);
  const known = new Set(["--", "--help", ...(command?.options ?? []).map(option => option.long)]);
  const flags = words.filter(word => word.startsWith("--")).map(word => word.split("=")[0] as string);
  return command !== undefined && flags.every(flag => known.has(flag));
}
