import { describe, expect, test } from "vitest";
import { type AgentDefinition, agent, isAgent, toCard } from "./definition.ts";

const run = () => "hello";

describe("agent()", () => {
  test("gives the definition back, marked and frozen", () => {
    const made = agent({ name: "echo", description: "Says it back", run });
    expect(made).toMatchObject({ name: "echo", description: "Says it back" });
    expect(isAgent(made)).toBe(true);
    expect(isAgent({ name: "echo", run })).toBe(false);
    expect(Object.isFrozen(made)).toBe(true);
  });

  test.each(["a", "0", "my-agent_2", "a".repeat(64)])("takes the name %s", name => {
    expect(agent({ name, run }).name).toBe(name);
  });

  test.each(["", "Echo", "my agent", "-a", "_a", "a/b", "é", "a".repeat(65)])("refuses the name %j", name => {
    expect(() => agent({ name, run })).toThrow(
      /The agent name .* is not allowed: 1 to 64 lower-case letters/,
    );
  });

  test("refuses a definition without a run function", () => {
    expect(() => agent({ name: "a" } as AgentDefinition)).toThrow(/needs a run function/);
    expect(() => agent(undefined as unknown as AgentDefinition)).toThrow(/needs a run function/);
  });
});

describe("a card", () => {
  test("shows what the author declared", () => {
    const card = toCard(
      agent({
        name: "weather",
        description: "Knows the weather",
        version: "2.1.0",
        skills: [{ id: "forecast", description: "Looks ahead", tags: ["rain"], examples: ["Will it rain?"] }],
        inputModes: ["text/plain"],
        outputModes: ["image/png"],
        provider: { organization: "Clouds", url: "https://example.org" },
        documentationUrl: "https://example.org/docs",
        iconUrl: "https://example.org/icon.png",
        extensions: [{ uri: "urn:example", required: true }],
        streaming: false,
        run,
      }),
    );
    expect(card).toEqual({
      name: "weather",
      description: "Knows the weather",
      version: "2.1.0",
      skills: [
        {
          id: "forecast",
          name: "forecast",
          description: "Looks ahead",
          tags: ["rain"],
          examples: ["Will it rain?"],
        },
      ],
      inputModes: ["text/plain"],
      outputModes: ["image/png"],
      provider: { organization: "Clouds", url: "https://example.org" },
      documentationUrl: "https://example.org/docs",
      iconUrl: "https://example.org/icon.png",
      extensions: [{ uri: "urn:example", required: true }],
      streaming: false,
      push: true,
      stateTransitionHistory: false,
    });
  });

  test("never has an empty value where one is required, even if the author wrote one", () => {
    const card = toCard({
      name: "empty",
      description: "",
      version: "",
      skills: [],
      inputModes: [],
      outputModes: [],
      run,
    });
    expect(card).toEqual(toCard({ name: "empty", run }));
    const [skill] = toCard({ name: "a", skills: [{ id: "b", name: "", tags: [] }], run }).skills;
    expect(skill).toEqual({ id: "b", name: "b", description: "b", tags: ["a2a"] });
  });
});
