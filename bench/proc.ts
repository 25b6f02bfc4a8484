import { readdirSync, readFileSync } from "node:fs";

/**
 * The resources that a process group has used, from /proc: exact for all threads and children, and without
 * asking the server.
 */

/** Linux counts in ticks of 10 ms towards user space, on every architecture Node runs on. */
const TICK_MS = 10;

/** Positions in /proc/PID/stat after the command's closing parenthesis (proc(5) numbers them from 3). */
const PARENT = 1;
const GROUP = 2;
const CPU_FIRST = 11;
const CPU_LAST = 14;

/** User and system time of all threads, running or ended, and of children that were waited for. */
export function readCpuMs(group: number): number {
  const ticks = listGroup(group).flatMap(pid => readStat(pid).slice(CPU_FIRST, CPU_LAST + 1));
  return TICK_MS * sum(ticks.map(Number));
}

/** The same of a process and its children, also if each of them has a separate group. */
export function readFamilyCpuMs(parent: number): number {
  const ticks = listPids()
    .filter(pid => pid === String(parent) || readStat(pid)[PARENT] === String(parent))
    .flatMap(pid => readStat(pid).slice(CPU_FIRST, CPU_LAST + 1));
  return TICK_MS * sum(ticks.map(Number));
}

export function readRssKib(group: number): number {
  return sum(listGroup(group).map(pid => Number(/^VmRSS:\s*(\d+)/m.exec(read(pid, "status"))?.[1] ?? 0)));
}

function listGroup(group: number): string[] {
  return listPids().filter(pid => readStat(pid)[GROUP] === String(group));
}

function listPids(): string[] {
  return readdirSync("/proc").filter(name => /^\d+$/.test(name));
}

function readStat(pid: string): string[] {
  const text = read(pid, "stat");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Empty when the process has ended meanwhile. */
function read(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
