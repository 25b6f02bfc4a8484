import { defineConfig } from "dragoman";

/** A program in another language; no code is needed. Two processes serve one turn after another. */
export default defineConfig({
  agents: [
    {
      runtime: "process",
      name: "letters",
      description: "Counts the letters of words, in Python",
      command: ["python3", "agent.py"],
      pool: 2,
    },
  ],
});
