// The program of the contract of runtimes, one turn after another; see the table there.
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const send = line => void process.stdout.write(`${JSON.stringify(line)}\n`);
const text = content => send({ type: "text", text: content });
const mark = line => appendFileSync("trail", `${line}\n`);
const textOf = ({ parts }) => parts.map(part => part.text ?? "").join("");

async function serve(turn) {
  if (turn.task.turn > 1) return text(`You chose ${turn.text}`);
  switch (turn.text) {
    case "stream":
      for (const word of ["one ", "two ", "three"]) text(word);
      return;
    case "work":
      mark("begun");
      text("before ");
      while (!existsSync("open")) await sleep(5);
      return text("after");
    case "wait":
      process.once("SIGTERM", () => {
        mark("stopped");
        process.exit(1);
      });
      text("waiting");
      return sleep(2 ** 30);
    case "fail":
      throw new Error("SECRET");
    case "ask":
      return "Which colour?";
    case "spend":
      send({ type: "usage", inputTokens: 7, outputTokens: 5 });
      return text("spent");
    case "recall": {
      const texts = turn.history.filter(one => one.role === "user").map(textOf);
      return text(texts.join(", ") || "nothing");
    }
    default:
      text("ok");
  }
}

// The server is gone, and with it the reader of the output.
process.stdin.once("end", () => process.exit());

for await (const line of createInterface({ input: process.stdin })) {
  const turn = JSON.parse(line);
  if (turn.type !== "turn") continue;
  const question = await serve(turn);
  send(question ? { type: "ask", text: question } : { type: "done" });
}
