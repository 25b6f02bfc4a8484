/** Pages with the React hooks of LangChain, bundled and served at an origin of their own, as front ends are. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "vite";
import { installPackages } from "../install.ts";

const SOURCES = new URL("./pages/", import.meta.url).pathname;

export const installReact = (): string | undefined =>
  installPackages("langchain-react", [
    "@langchain/react@1.1.0",
    "@langchain/langgraph-sdk@1.12.0",
    "@langchain/core@1.2.13",
    "react@19.2.0",
    "react-dom@19.2.0",
  ]);

export async function startPages(installed: string): Promise<{ readonly url: string; close(): void }> {
  const folder = join(installed, `pages-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const scripts = new Map<string, string>();
  for (const name of readdirSync(SOURCES)) {
    copyFileSync(join(SOURCES, name), join(folder, name));
    scripts.set(name, await bundle(folder, name));
  }
  rmSync(folder, { recursive: true, force: true });
  const server = createServer(({ url = "/" }, response) => {
    const name = new URL(url, "http://page").pathname.slice(1);
    const script = scripts.get(name);
    if (script !== undefined) return response.setHeader("content-type", "text/javascript").end(script);
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><div id="root"></div><script type="module" src="/${name}.js"></script>`);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  };
}

async function bundle(root: string, name: string): Promise<string> {
  const outDir = join(root, "out", name);
  await build({
    root,
    configFile: false,
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir,
      minify: false,
      lib: { entry: join(root, name), formats: ["es"], fileName: () => "page.js" },
    },
  });
  return readFileSync(join(outDir, "page.js"), "utf8");
}
