/** Executes whole pages, with what their readers have: a running server, a store, an agent, a certificate. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { createCertificate } from "../certificate.ts";
import { endChildren, startChild } from "../child.ts";
import { rpc, sendParams } from "../client.ts";
import { tempFolder } from "../server.ts";
import { ROOT } from "../tidy-tree.ts";
import { BLOCKS, type Block, isRun, PAGES } from "./blocks.ts";
import { writeBlock } from "./project.ts";
import { openPage } from "./shell.ts";

const isShell = (block: Block): boolean => block.language === "sh" && isRun(block);
const ofPage = (path: string): readonly Block[] => BLOCKS.filter(block => block.page === path);

/** Pages with commands. */
export const SHELL_PAGES: readonly string[] = PAGES.map(({ path }) => path).filter(path =>
  ofPage(path).some(isShell),
);

export interface Reader {
  /** From the first block to the last: files are written, commands are executed. */
  follow(path: string): Promise<void>;
  close(): Promise<void>;
}

export async function createReader(): Promise<Reader> {
  const folder = tempFolder();
  const flags = ["--durability", "process", "--push-allow-loopback"];
  const { port: examples } = await startChild({ data: join(folder.path, "examples"), flags });
  const store = join(folder.path, "store");
  const storedTask = await storeTask(store);
  return {
    async follow(path) {
      const blocks = ofPage(path);
      const name = path.replaceAll(/\W/g, "-");
      const variables = variablesIn(blocks);
      const page = openPage({ folder: join(folder.path, name), examples, store, storedTask, variables });
      writeReadersFiles(page.folder, blocks);
      if (path.startsWith("examples/")) symlinkSync(join(ROOT, "examples"), join(page.folder, "examples"));
      try {
        for (const block of blocks) {
          if (block.file !== undefined) writeBlock(page.folder, block);
          if (isShell(block)) await page.run(block);
        }
      } finally {
        await page.close();
      }
    },
    async close() {
      await endChildren();
      folder.remove();
    },
  };
}

/** A data folder with one task. */
async function storeTask(data: string): Promise<string> {
  const server = await startChild({ data, flags: ["--durability", "process"] });
  const { body } = await rpc(server.url, "SendMessage", sendParams("hello"));
  await server.stop();
  return body.result.task.id;
}

/** A value for each variable that a config or an agent reads. */
export const variablesIn = (blocks: readonly Block[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    blocks
      .flatMap(({ text }) => [...text.matchAll(/process\.env\.(\w+)|Env: "(\w+)"/g)])
      .map(found => [found[1] ?? found[2], "0123456789abcdef0123456789abcdef"]),
  );

/** Without those that the page writes itself: before that, its reader has none. */
function writeReadersFiles(folder: string, blocks: readonly Block[]): void {
  const { cert, key } = createCertificate();
  const files = {
    "agents/hello.ts": "export default (task: { text: string }) => task.text;\n",
    "server.crt": cert,
    "server.key": key,
    "callers.crt": cert,
    "question.txt": "Why?\n",
  };
  for (const [file, text] of Object.entries(files))
    if (!blocks.some(block => block.file === file)) writeBlock(folder, { file, text });
}
