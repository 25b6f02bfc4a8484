/** Writes the files of a new project. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ClientError } from "../terminal/errors.ts";
import { TEMPLATES, type Template, type TemplateName } from "./templates.ts";

export interface ProjectParts {
  /** The folder of this package. */
  readonly root: string;
  /** The folder of the new project. */
  readonly folder: string;
  readonly template: TemplateName;
}

export interface CreatedProject {
  /** The files that were written, relative to the folder. */
  readonly files: readonly string[];
  /** The clone that the project depends on, which must be built; undefined: it depends on a package. */
  readonly clone: string | undefined;
}

/** Writes nothing if one of the files exists already. */
export function createProject({ root, folder, template }: ProjectParts): CreatedProject {
  const templates = join(root, "templates");
  const files = new Map([
    ...readFolder(join(templates, "_shared")),
    ...readFolder(join(templates, template)),
  ]);
  const name = toPackageName(basename(folder));
  files.set(".gitignore", take(files, "gitignore.txt"));
  files.set("README.md", toReadme(take(files, "README.md.txt"), name, TEMPLATES[template]));
  const existing = [...files.keys()].filter(file => existsSync(join(folder, file)));
  if (existing.length > 0)
    throw new ClientError(
      `${folder} already has ${existing.join(", ")}: nothing was written. Name another folder: npx dragoman init FOLDER`,
    );
  const spec = findOwnSpec(root, folder);
  files.set("package.json", toPackageJson({ root, folder, template, name, spec: spec.text }));
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return { files: [...files.keys()].toSorted(), clone: spec.clone };
}

function take(files: Map<string, string>, name: string): string {
  const text = files.get(name) ?? "";
  files.delete(name);
  return text;
}

/** The files below a folder, by their relative names. */
const readFolder = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    (readdirSync(folder, { recursive: true }) as string[])
      .filter(name => statSync(join(folder, name)).isFile())
      .map(name => [name.split(sep).join("/"), readFileSync(join(folder, name), "utf8")]),
  );

const toPackageName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "") || "my-agent";

function toReadme(text: string, name: string, { description, files }: Template): string {
  const rows = Object.entries({ ...files, "dragoman.config.ts": "the config of the server" });
  const list = rows.map(([file, purpose]) => `- \`${file}\`: ${purpose}`).join("\n");
  return text.replace("NAME", name).replace("DESCRIPTION", description).replace("FILES", list);
}

type Versions = Record<string, string>;
interface Manifest {
  readonly version?: string;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly [member: string]: unknown;
}

const readManifest = (file: string): Manifest =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : {};

/** The manifest of the folder, if there is one, with what it lacks. */
function toPackageJson(parts: ProjectParts & { readonly name: string; readonly spec: string }): string {
  const own = readManifest(join(parts.root, "package.json"));
  const versions = { ...own.dependencies, ...own.devDependencies };
  const pick = (names: readonly string[]): Versions =>
    Object.fromEntries(names.map(name => [name, versions[name] as string]));
  const given = readManifest(join(parts.folder, "package.json"));
  const manifest = {
    name: parts.name,
    version: "0.0.0",
    private: true,
    ...given,
    type: "module",
    scripts: {
      dev: "dragoman dev",
      start: "dragoman serve",
      test: 'node --test "test/**/*.test.ts"',
      check: "tsc --noEmit",
      ...withoutPlaceholder(given.scripts as Versions | undefined),
    },
    dependencies: {
      dragoman: parts.spec,
      ...pick(TEMPLATES[parts.template].packages),
      ...given.dependencies,
    },
    devDependencies: { ...pick(["@types/node", "typescript"]), ...given.devDependencies },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** `npm init` writes a test that fails. */
function withoutPlaceholder(scripts: Versions = {}): Versions {
  return Object.fromEntries(
    Object.entries(scripts).filter(([, text]) => !text.includes("no test specified")),
  );
}

interface OwnSpec {
  readonly text: string;
  readonly clone: string | undefined;
}

/** How the project depends on this package: as it was installed itself. The package need not be in a registry. */
function findOwnSpec(root: string, folder: string): OwnSpec {
  const toFile = (path: string) => `file:${relative(folder, path).split(sep).join("/") || "."}`;
  const modules = dirname(root);
  if (basename(modules) !== "node_modules") return { text: toFile(root), clone: root };
  const installed = readManifest(join(modules, ".package-lock.json")) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  const resolved = installed.packages?.["node_modules/dragoman"]?.resolved ?? "";
  const text = resolved.startsWith("file:")
    ? toFile(resolve(dirname(modules), resolved.slice("file:".length)))
    : `^${readManifest(join(root, "package.json")).version}`;
  return { text, clone: undefined };
}
