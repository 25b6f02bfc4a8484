/** Finds the Python of a project: the one that is configured, a virtual environment, uv, or the one on the PATH. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, join, relative, resolve } from "node:path";

export interface PythonSearch {
  /** The option `python`: a program or the folder of a virtual environment. */
  readonly given: string | undefined;
  /** The file of the graph; undefined: it is named as a module. */
  readonly file: string | undefined;
  /** The folder of the config. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
}
export interface Python {
  readonly argv: readonly [string, ...string[]];
  /** The command that installs a package into this environment. */
  install(name: string): string;
}

/** undefined: there is none. */
export function findPython(search: PythonSearch): Python | undefined {
  const { given, folder, variables } = search;
  if (given !== undefined) return toGiven(resolve(folder, given), given, variables);
  const active = variables.VIRTUAL_ENV;
  const folders = foldersOf(search);
  const environments = [
    ...(active ? [active] : []),
    ...folders.flatMap(one => [join(one, ".venv"), join(one, "venv")]),
  ];
  const program = environments.map(one => join(one, "bin", "python")).find(isProgram);
  const locked = folders.find(one => existsSync(join(one, "uv.lock")));
  if (locked !== undefined && isOnPath("uv", variables)) return toUv(locked);
  if (program !== undefined) return toVirtual(program);
  const name = ["python3", "python"].find(one => isOnPath(one, variables));
  return name === undefined ? undefined : toBare(name, folder);
}

/** The folder of the file and those above it, up to the folder of the config. */
function foldersOf({ file, folder }: PythonSearch): readonly string[] {
  const folders: string[] = [];
  for (let one = file === undefined ? folder : dirname(file); ; one = dirname(one)) {
    folders.push(one);
    if (one === folder) return folders;
    if (relative(folder, one).startsWith("..") || one === dirname(one))
      return [...folders.slice(0, 1), folder];
  }
}

function toGiven(path: string, name: string, variables: PythonSearch["variables"]): Python | undefined {
  const inside = join(path, "bin", "python");
  if (isProgram(inside)) return toVirtual(inside);
  if (name.includes("/")) return isProgram(path) ? toVirtual(path) : undefined;
  return isOnPath(name, variables) ? toVirtual(name) : undefined;
}

const toVirtual = (program: string): Python => ({
  argv: [program],
  install: name => `${program} -m pip install ${name}`,
});

/** `uv run` brings the environment up to date with the lock file before it starts Python. */
const toUv = (folder: string): Python => ({
  argv: ["uv", "run", "--project", folder, "python"],
  install: name => `uv add --project ${folder} ${name}`,
});

/** Systems refuse to install packages for their own Python: a virtual environment always works. */
const toBare = (name: string, folder: string): Python => ({
  argv: [name],
  install: wanted => `cd ${folder} && ${name} -m venv .venv && .venv/bin/pip install ${wanted}`,
});

const isOnPath = (name: string, { PATH = "" }: PythonSearch["variables"]): boolean =>
  PATH.split(delimiter).some(folder => folder !== "" && isProgram(join(folder, name)));

function isProgram(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
