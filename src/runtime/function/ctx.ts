/** The `ctx` of a function. */
import type { Call, McpTools } from "../../agent/calls.ts";
import type { CheckedSchema } from "../../agent/checked-schema.ts";
import type { Ctx } from "../../agent/context.ts";
import type { Message } from "../../model/index.ts";
import type { Log, Turn } from "../../ports/index.ts";
import { createCall } from "./call-stream.ts";
import type { EventBuilder } from "./event-builder.ts";
import { StepRecorder } from "./steps.ts";
import { checkOutput } from "./typed-task.ts";

/**
 * Its methods are getters that return functions, so that authors may write `run(task, { text, ask })`; the functions are
 * created on use, because a run may wait for hours and most runs use one or two of them.
 */
export class FunctionCtx implements Ctx {
  static #hasWarnedOfShelf = false;
  readonly #events: EventBuilder;
  readonly #turn: Turn;
  readonly attempt: number;
  readonly #output: CheckedSchema | undefined;
  #steps: StepRecorder | undefined;
  #call: Call | undefined;

  /** `output`: the schema of `ctx.output`. */
  constructor(events: EventBuilder, turn: Turn, output?: CheckedSchema | undefined) {
    this.#events = events;
    this.#turn = turn;
    this.#output = output;
    this.attempt = turn.attempt;
  }

  get text(): Ctx["text"] {
    return (text, options) => this.#events.created("text", this.#events.text(text, options));
  }

  get data(): Ctx["data"] {
    return (data, options = {}) => this.#events.created("data", this.#events.data(data, options));
  }

  get output(): Ctx["output"] {
    return (value, options) =>
      this.#events.created(
        "output",
        this.#events.data(checkOutput(this.#output, value), { name: "output", ...options }),
      );
  }

  get file(): Ctx["file"] {
    return file => this.#events.created("file", this.#events.file(file));
  }

  get artifact(): Ctx["artifact"] {
    return artifact => this.#events.created("artifact", this.#events.artifact(artifact));
  }

  get status(): Ctx["status"] {
    return content => this.#events.created("status", this.#events.status("working", content));
  }

  get reply(): Ctx["reply"] {
    return content => this.#events.created("reply", this.#events.reply(content));
  }

  get ask(): Ctx["ask"] {
    return question => this.#events.created("ask", this.#events.status("input-required", question));
  }

  get askAll(): Ctx["askAll"] {
    return questions => this.#events.created("askAll", this.#events.askAll(questions));
  }

  get askAuth(): Ctx["askAuth"] {
    return request => this.#events.created("askAuth", this.#events.askAuth(request));
  }

  get credentials(): Ctx["credentials"] {
    return name => this.#turn.credentials(name);
  }

  get reject(): Ctx["reject"] {
    return reason => this.#events.created("reject", this.#events.status("rejected", reason));
  }

  get fail(): Ctx["fail"] {
    return reason => this.#events.created("fail", this.#events.status("failed", reason));
  }

  get usage(): Ctx["usage"] {
    return counters => this.#events.addUsage(counters);
  }

  get step(): Ctx["step"] {
    return this.#recorder().step;
  }

  get sleep(): Ctx["sleep"] {
    return this.#recorder().sleep;
  }

  get now(): Ctx["now"] {
    return this.#recorder().now;
  }

  get random(): Ctx["random"] {
    return this.#recorder().random;
  }

  #recorder(): StepRecorder {
    this.#steps ??= new StepRecorder(this.#turn);
    return this.#steps;
  }

  get log(): Log {
    return this.#turn.log;
  }

  get incoming(): AsyncIterable<Message> {
    return this.#turn.incoming;
  }

  get history(): Promise<readonly Message[]> {
    return this.#turn.history();
  }

  get storage(): Turn["storage"] {
    return this.#turn.storage;
  }

  get items(): Turn["items"] {
    return this.#turn.items;
  }

  /** Deprecated; warns once per process. */
  get shelf(): Turn["storage"] {
    if (!FunctionCtx.#hasWarnedOfShelf)
      this.log.warn({ deprecated: "ctx.shelf" }, "ctx.shelf is deprecated: use ctx.storage");
    FunctionCtx.#hasWarnedOfShelf = true;
    return this.#turn.storage;
  }

  get caller(): Turn["caller"] {
    return this.#turn.caller;
  }

  get outbound(): Turn["outbound"] {
    return this.#turn.outbound;
  }

  get trace(): Turn["trace"] {
    return this.#turn.trace;
  }

  get call(): Call {
    this.#call ??= createCall(this, this.#turn, (messageId, usage) =>
      this.#events.addCallUsage(messageId, usage),
    );
    return this.#call;
  }

  get mcp(): Ctx["mcp"] {
    return server => this.#openTools(server);
  }

  async #openTools(server: string): Promise<McpTools> {
    const tools = await this.#turn.tools(server);
    const { signal } = this.#turn;
    return {
      listTools: () => tools.listTools(signal),
      callTool: (name, input = {}) => tools.callTool(name, input, signal),
    };
  }

  get hops(): number {
    return this.#turn.task.hops ?? 0;
  }

  /** A getter: the runner may create the signal on first use. */
  get signal(): AbortSignal {
    return this.#turn.signal;
  }
}
