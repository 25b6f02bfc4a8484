import { defineConfig } from "dragoman";

const { OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API_KEY } = process.env;

/** A model behind an OpenAI-compatible endpoint; no code is needed. Without variables: Ollama on this machine. */
export default defineConfig({
  agents: [
    {
      runtime: "openai",
      name: "chat",
      description: "Talks about anything",
      baseUrl: OPENAI_BASE_URL ?? "http://127.0.0.1:11434/v1",
      model: OPENAI_MODEL ?? "llama3.2",
      // The name of the variable, not the key.
      keyEnv: OPENAI_API_KEY ? "OPENAI_API_KEY" : undefined,
      system: "Answer in one short paragraph.",
      params: { temperature: 0.3 },
    },
  ],
});
