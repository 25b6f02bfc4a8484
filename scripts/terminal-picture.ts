/** Runs the demonstration in a terminal of its own and draws what it printed: docs/images/demo.svg. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../bin/dragoman.cjs", import.meta.url));
const PICTURE = new URL("../docs/images/demo.svg", import.meta.url);
const COLUMNS = 96;
const CHAR_WIDTH = 8.4;
const LINE_HEIGHT = 20;
const PADDING = 16;
const TITLE_HEIGHT = 32;

/** `script` gives the program a terminal, so that it prints colours. */
const command = `stty cols ${COLUMNS} rows 40; ${process.execPath} ${LAUNCHER} demo`;
const { stdout, status } = spawnSync("script", ["-qec", command, "/dev/null"], {
  encoding: "utf8",
  env: { ...process.env, TERM: "xterm-256color" },
});
if (status !== 0) throw new Error(`the demonstration failed:\n${stdout}`);

const STYLES: Readonly<Record<string, string>> = {
  "1": 'font-weight="bold" fill="#ffffff"',
  "2": 'opacity="0.65"',
  "31": 'fill="#ff7b72"',
  "32": 'fill="#7ee787"',
  "33": 'fill="#e3b341"',
  "36": 'fill="#79c0ff"',
};
const ESC = "\u001b";
const CODE = new RegExp(`(${ESC}\\[[\\d;]*m)`);
const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** What a line looks like at the end: a spinner writes over itself. */
const lastState = (line: string): string => line.split("\r").at(-1)?.replace(`${ESC}[K`, "") ?? "";

/** Wraps at the width of the terminal, as it does itself. */
function* toRows(line: string): Generator<string> {
  let row = "";
  let width = 0;
  const tokens = line.split(CODE).flatMap(part => (part.startsWith(ESC) ? [part] : [...part]));
  for (const token of tokens) {
    if (!token.startsWith(ESC) && width === COLUMNS) {
      yield row;
      row = "";
      width = 0;
    }
    row += token;
    if (!token.startsWith(ESC)) width += 1;
  }
  yield row;
}

function toSpans(row: string): string {
  let style = "";
  return row
    .split(CODE)
    .map(token => {
      const code = token.startsWith(ESC) ? token.slice(2, -1) : undefined;
      if (code === undefined)
        return token === "" ? "" : `<tspan ${style} xml:space="preserve">${escapeXml(token)}</tspan>`;
      style = STYLES[code] ?? "";
      return "";
    })
    .join("");
}

const text = stdout.replaceAll("\r\n", "\n").trimEnd();
const rows = [
  "\u001b[2m$\u001b[0m npx dragoman demo",
  ...text
    .split("\n")
    .map(lastState)
    .flatMap(line => [...toRows(line)]),
];
const width = Math.ceil(COLUMNS * CHAR_WIDTH + 2 * PADDING);
const height = rows.length * LINE_HEIGHT + 2 * PADDING + TITLE_HEIGHT;
const lines = rows.map(
  (row, at) =>
    `<text x="${PADDING}" y="${TITLE_HEIGHT + PADDING + (at + 0.75) * LINE_HEIGHT}">${toSpans(row)}</text>`,
);
const buttons = ["#ff5f57", "#febc2e", "#28c840"].map(
  (fill, at) => `<circle cx="${20 + at * 20}" cy="16" r="6" fill="${fill}"/>`,
);
writeFileSync(
  PICTURE,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="A terminal: the server is killed in the middle of an answer, and the answer continues">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${buttons.join("")}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9">
${lines.join("\n")}
</g>
</svg>
`,
);
process.stdout.write(`${rows.length} lines in ${fileURLToPath(PICTURE)}\n`);
