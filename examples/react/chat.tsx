import { textOf, useAgent } from "dragoman/react";
import { type SubmitEvent, useState } from "react";

/** A conversation with one agent. It survives a reload of the page and a restart of the server. */
export function Chat({ url }: { readonly url: string }) {
  const { agent, messages, state, questions, progress, isWorking, error, send, answer, stop, reset } =
    useAgent(url);
  const [text, setText] = useState("");

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setText("");
    void (questions.length > 0 ? answer(text) : send(text));
  }

  return (
    <>
      <h1>{agent?.name ?? "Connecting …"}</h1>
      <ol>
        {messages.map(({ messageId, role, parts }) => (
          <li key={messageId} className={role}>
            {textOf(parts) ||
              JSON.stringify(parts.map(part => (part.kind === "data" ? part.data : part.kind)))}
          </li>
        ))}
      </ol>
      <p role="status">{isWorking ? textOf(progress?.parts ?? []) || "Working …" : state}</p>
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          value={text}
          placeholder={questions[0]?.question ?? "Message"}
          onChange={event => setText(event.target.value)}
        />
        <button type="submit" disabled={isWorking || text === ""}>
          {questions.length > 0 ? "Answer" : "Send"}
        </button>
        <button type="button" disabled={!isWorking} onClick={() => void stop()}>
          Stop
        </button>
        <button type="button" onClick={reset}>
          New
        </button>
      </form>
    </>
  );
}
