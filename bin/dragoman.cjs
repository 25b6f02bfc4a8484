#!/usr/bin/env node
// The program as users start it: in a clone, in a project that installed the package, and globally.
// Syntax of old versions of Node: the check of the version must run on each of them, before any import.
"use strict";

const fs = require("fs");
const path = require("path");

const ROOT = path.join(__dirname, "..");
const REQUIRED = require("../package.json").engines.node.replace(">=", "");
const BUILD = path.join(ROOT, "dist", "cli", "main.js");
// Node strips no types in node_modules.
const SOURCES = path.join(ROOT, "src", "cli", "main.ts");
const isClone = fs.existsSync(SOURCES) && !/[\\/]node_modules[\\/]/.test(ROOT);
// Servers keep more short-lived objects between two collections (docs/decisions/0026).
const SERVER_FLAG = "--max-semi-space-size=16";
const isHelp = process.argv.slice(2).some(word => word === "--help" || word === "-h");
const isServer = /^(serve|dev)$/.test(process.argv[2] || "") && !isHelp;
const hasFlag = process.execArgv.some(flag => /^--max[-_]semi[-_]space[-_]size/.test(flag));

function isNewEnough() {
  const required = REQUIRED.split(".").map(Number);
  const own = process.versions.node.split(".").map(Number);
  return own[0] > required[0] || (own[0] === required[0] && own[1] >= (required[1] || 0));
}

// The Node of a clone is a package of it.
function findBundledNode() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const file = path.join(ROOT, "node_modules", "node", "bin", name);
  return isClone && fs.existsSync(file) ? file : undefined;
}

function runWith(node) {
  const args = process.execArgv.concat(isServer && !hasFlag ? [SERVER_FLAG] : [], process.argv.slice(1));
  const child = require("child_process").spawn(node, args, { stdio: "inherit" });
  // Ctrl-C reaches every process of the terminal; a second signal would stop the server at once.
  const onInterrupt = () => process.stdin.isTTY || child.kill("SIGINT");
  process.on("SIGINT", onInterrupt);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", error => fail(`${node} cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

// The sources of a clone need no build, and one that is older than they are never runs (docs/decisions/0041).
function isBuildCurrent() {
  try {
    const inputs = JSON.parse(fs.readFileSync(path.join(ROOT, "dist", "inputs.json"), "utf8"));
    return Object.keys(inputs).every(name => isUnchanged(`${ROOT}/${name}`, inputs[name]));
  } catch (_) {
    return false;
  }
}

// A copy, an archive and Git keep the content of a file, and not always its time.
function isUnchanged(file, input) {
  if (fs.statSync(file).mtimeMs === input.mtimeMs) return true;
  return require("crypto").createHash("sha256").update(fs.readFileSync(file)).digest("hex") === input.sha256;
}

// Help is the first thing that is read of the program: it is a file, so that nothing is loaded for it.
function findHelp() {
  const words = process.argv.slice(2);
  if (!/^(--help|-h)$/.test(words.pop() || "")) return undefined;
  const isCommand = words.length < 3 && words.every(word => /^[a-z]+$/.test(word));
  const file = path.join(__dirname, "help", `${["dragoman"].concat(words).join("-")}.txt`);
  return isCommand && fs.existsSync(file) ? file : undefined;
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

// npm and npx run commands in a shell that passes no signal on: when it has ended, so does the server.
function stopWithNpm() {
  if (process.env.npm_command === undefined || process.platform === "win32") return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 250);
  timer.unref();
}

function run() {
  const node = isNewEnough() ? process.execPath : findBundledNode();
  if (node === undefined) {
    const own = `this is Node ${process.versions.node} (${process.execPath})`;
    return fail(`Dragoman needs Node ${REQUIRED} or newer; ${own}. Install one from https://nodejs.org.`);
  }
  const help = findHelp();
  if (help !== undefined) return process.stdout.write(fs.readFileSync(help));
  if (node !== process.execPath) return runWith(node);
  if (!isClone && !fs.existsSync(BUILD)) return fail(`${BUILD} is missing: run "npm run build" in ${ROOT}.`);
  if (isServer && !hasFlag) {
    // The heap takes this flag only at the start. execve keeps process id, parent and streams.
    if (process.execve === undefined || process.platform === "win32") return runWith(process.execPath);
    process.removeAllListeners("warning");
    const args = [process.execPath].concat(process.execArgv, SERVER_FLAG, process.argv.slice(1));
    return process.execve(process.execPath, args, process.env);
  }
  if (isServer) stopWithNpm();
  // Stripped and compiled code is cached between starts, that of main.ts included: without it each start would load the stripper.
  require("module").enableCompileCache();
  const main = isClone && !isBuildCurrent() ? SOURCES : BUILD;
  return import(require("url").pathToFileURL(main).href);
}

run();
