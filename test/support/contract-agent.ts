/** The body of an agent that follows the table in src/testing/contracts/runtime.ts. */
export const contractAgentBody = (folder: string): string => `
    const { appendFileSync, existsSync } = await import("node:fs");
    const mark = line => appendFileSync(${JSON.stringify(`${folder}/trail`)}, line + "\\n");
    if (task.turn > 1) return yield ctx.text("You chose " + task.text);
    switch (task.text) {
      case "stream":
        for (const word of ["one ", "two ", "three"]) yield ctx.text(word);
        return;
      case "work":
        mark("begun");
        yield ctx.text("before ");
        while (!existsSync(${JSON.stringify(`${folder}/open`)})) await sleep(5, undefined, { signal: ctx.signal });
        return yield ctx.text("after");
      case "wait":
        yield ctx.text("waiting");
        await sleep(2 ** 30, undefined, { signal: ctx.signal }).catch(() => mark("stopped"));
        return;
      case "fail":
        throw new Error("SECRET");
      case "ask":
        return yield ctx.ask("Which colour?");
      case "spend":
        ctx.usage({ inputTokens: 7, outputTokens: 5 });
        return yield ctx.text("spent");
      case "recall": {
        const texts = (await ctx.history).filter(one => one.role === "user").map(one => one.parts[0].text);
        return yield ctx.text(texts.join(", ") || "nothing");
      }
      default:
        yield ctx.text("ok");
    }`;
