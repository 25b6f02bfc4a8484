import { useEffect, useId, useState } from "preact/hooks";
import type { CurlCommand, TaskDetail } from "../../../src/admin/api.ts";
import { cancelTask, newId, sendMessage } from "../../lib/a2a.ts";
import { findAgent, mayCancel, maySend, readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, href } from "../../lib/router.ts";
import { isTerminal } from "../../lib/states.ts";
import { toast } from "../../lib/toast.ts";
import type { V1Message, V1Part } from "../../lib/v1.ts";
import { Button, copy, Icon } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/overlays.tsx";
import { isMine } from "../../parts/question.tsx";
import { exportTask } from "./export.ts";

/** Sends the first message of the task again, edited, as a new task. */
export function RunAgain({ detail, onClose }: { readonly detail: TaskDetail; readonly onClose: () => void }) {
  const input = detail.input as unknown as V1Message | null;
  const parts = input?.parts ?? [{ text: detail.task.title }];
  const [text, setText] = useState(parts.map(part => part.text ?? "").join(""));
  const others = parts.filter(part => part.text === undefined);
  const [json, setJson] = useState(others.length > 0 ? JSON.stringify(others, null, 2) : "");
  const [place, setPlace] = useState("new");
  const [wrong, setWrong] = useState("");
  const [isBusy, setBusy] = useState(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    let more: readonly V1Part[] = [];
    try {
      more = json.trim() === "" ? [] : (JSON.parse(json) as V1Part[]);
      if (!Array.isArray(more)) throw new TypeError("the other parts must be a list");
    } catch (error) {
      setWrong(`Not valid: ${reasonOf(error)}`);
      return;
    }
    const { agent, contextId } = detail.task;
    const message: V1Message = {
      messageId: newId(),
      role: "ROLE_USER",
      parts: [...(text ? [{ text }] : []), ...more],
      ...(place === "same" && { contextId }),
      ...(input?.metadata && { metadata: input.metadata }),
    };
    setBusy(true);
    try {
      const answer = await sendMessage({
        agent,
        message,
        key: newId(),
        streaming: findAgent(agent)?.streaming ?? true,
        signal: new AbortController().signal,
      });
      onClose();
      if (answer.task) go(["tasks", answer.task.id]);
      else if (answer.message?.contextId) go(["chat", agent, answer.message.contextId]);
    } catch (error) {
      setWrong(reasonOf(error));
    }
    setBusy(false);
  };
  return (
    <Dialog title={`Run again: ${detail.task.agent}`} onClose={onClose}>
      <form class="again" onSubmit={send}>
        <label class="lab">
          Text
          <textarea
            class="area"
            rows={4}
            autofocus
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
        </label>
        <label class="lab">
          Other parts: files and data, as JSON
          <textarea
            class="area mono"
            rows={json ? 5 : 2}
            placeholder='[{"data": {"nights": 2}}]'
            value={json}
            onInput={event => setJson(event.currentTarget.value)}
          />
        </label>
        <fieldset class="opts" disabled={!isMine(detail.task)}>
          <legend class="lab">Conversation</legend>
          <label>
            <input type="radio" name="place" checked={place === "new"} onChange={() => setPlace("new")} /> A
            new one
          </label>
          <label>
            <input type="radio" name="place" checked={place === "same"} onChange={() => setPlace("same")} />{" "}
            The same: the agent sees what was said before
          </label>
        </fieldset>
        {wrong && (
          <p class="is-wrong" role="alert">
            {wrong}
          </p>
        )}
        <div class="actions">
          <Button
            kind="primary"
            type="submit"
            icon="play"
            label={isBusy ? "Sending" : "Run"}
            disabled={isBusy || (text === "" && json.trim() === "")}
          />
        </div>
      </form>
    </Dialog>
  );
}

const ACTIONS: Readonly<Record<CurlCommand["action"], string>> = {
  get: "get",
  subscribe: "subscribe",
  send: "send",
  cancel: "cancel",
};

/** One line of curl for each dialect, transport and action. */
function CurlMenu({ id }: { readonly id: string }) {
  const [commands, setCommands] = useState<readonly CurlCommand[]>();
  const [action, setAction] = useState<CurlCommand["action"]>("get");
  const menu = useId().replace(/\W/g, "");
  const load = (): void => {
    if (!commands)
      void readAdmin<{ commands: readonly CurlCommand[] }>(`tasks/${segment(id)}/curl`).then(
        read => setCommands(read.commands),
        error => toast(reasonOf(error), { isError: true }),
      );
  };
  return (
    <div class="menu-wrap">
      <button class="btn" type="button" popovertarget={menu} onClick={load}>
        <Icon name="copy" />
        Copy as curl
        <Icon name="down" />
      </button>
      <div class="menu curl-menu" id={menu} popover="auto">
        <div class="seg menu-seg" role="group" aria-label="Action">
          {Object.keys(ACTIONS).map(name => (
            <button
              key={name}
              class="tab"
              type="button"
              aria-pressed={action === name}
              onClick={() => setAction(name as CurlCommand["action"])}
            >
              {name}
            </button>
          ))}
        </div>
        {commands
          ?.filter(one => one.action === action)
          .map((one, at) => (
            <button
              key={at}
              class="menu-item"
              type="button"
              onClick={() => {
                void copy(one.command, `Copied as curl, ${one.title}`);
                document.getElementById(menu)?.hidePopover();
              }}
            >
              <span class="grow">{one.title}</span>
              <span class="dim">{one.binding}</span>
            </button>
          ))}
        {commands && !commands.some(one => one.action === action) && <h3>No dialect has this call</h3>}
        {!commands && <h3>Loading</h3>}
      </div>
    </div>
  );
}

export function TaskActions({ detail }: { readonly detail: TaskDetail }) {
  const [isAgain, setAgain] = useState(false);
  const { task } = detail;
  const canAct = mayCancel() && isMine(task);
  const cancel = async (): Promise<void> => {
    try {
      await cancelTask(task.agent, task.id);
      toast("Cancel requested");
    } catch (error) {
      toast(`The task was not canceled: ${reasonOf(error)}`, { isError: true });
    }
  };
  const save = (): void =>
    void exportTask(detail).catch((error: unknown) => toast(reasonOf(error), { isError: true }));
  const copyFirst = async (): Promise<void> => {
    const { commands } = await readAdmin<{ commands: readonly CurlCommand[] }>(
      `tasks/${segment(task.id)}/curl`,
    );
    if (commands[0]) await copy(commands[0].command, "Copied as curl");
  };
  const isOver = isTerminal(task.state);
  useKeys([
    { key: "r", label: "Run again", run: () => maySend() && setAgain(true) },
    { key: "y", label: "Copy as curl", run: copyFirst },
    ...(isOver || !canAct ? [] : [{ key: "x", label: "Cancel the task", run: cancel }]),
  ]);
  useEffect(() => setAgain(false), [task.id]);
  return (
    <div class="actions">
      <Button
        kind="primary"
        icon="retry"
        label="Run again"
        keys="R"
        disabled={!maySend()}
        onClick={() => setAgain(true)}
      />
      {!isOver && (
        <Button
          icon="stop"
          label="Cancel"
          keys="X"
          disabled={!canAct || task.cancelAt !== null}
          onClick={cancel}
        />
      )}
      <CurlMenu id={task.id} />
      <Button icon="download" label="Export" onClick={save} />
      <a class="btn" href={href(["chat", task.agent, task.contextId])}>
        <Icon name="chat" />
        Open in chat
      </a>
      {isAgain && <RunAgain detail={detail} onClose={() => setAgain(false)} />}
    </div>
  );
}
