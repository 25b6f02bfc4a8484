import { useEffect, useRef, useState } from "preact/hooks";
import type { Json } from "../../../src/lib/json.ts";
import type { Part } from "../../../src/model/message.ts";
import { findAgent, maySend } from "../../lib/admin.ts";
import { toBase64 } from "../../lib/files.ts";
import { bytes, oneLine, shortId } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, inQuery } from "../../lib/router.ts";
import { toV1Part } from "../../lib/task-log.ts";
import { toast } from "../../lib/toast.ts";
import type { V1Part } from "../../lib/v1.ts";
import { Button, Icon } from "../../parts/basics.tsx";
import { fieldsOf, readForm, SchemaForm } from "../../parts/schema-form.tsx";
import type { Conversation } from "./conversation.ts";
import { draft } from "./draft.ts";
import { readDraft, writeDraft } from "./outbox.ts";

interface Attached {
  readonly name: string;
  readonly size: number;
  readonly part: V1Part;
}

/** The body of a call has at most 10 MiB, and base64 makes a third more of it. */
const FILES_BYTES_MAX = 7_000_000;

async function attach(files: Iterable<File>, before: readonly Attached[]): Promise<readonly Attached[]> {
  const added: Attached[] = [...before];
  for (const file of files) {
    if (added.reduce((sum, one) => sum + one.size, file.size) > FILES_BYTES_MAX) {
      toast(
        `${oneLine(file.name, 40)} is too large: files of a message have at most ${bytes(FILES_BYTES_MAX)}`,
        { isError: true },
      );
      continue;
    }
    const part = {
      raw: await toBase64(file),
      filename: file.name,
      mediaType: file.type || "application/octet-stream",
    };
    added.push({ name: file.name, size: file.size, part });
  }
  return added;
}

const fromPart = (part: Part): Attached => ({
  name: part.filename ?? (part.kind === "data" ? "data" : "file"),
  size: part.kind === "bytes" ? Math.floor(part.bytes.length * 0.75) : 0,
  part: toV1Part(part),
});

export function Composer({ conversation }: { readonly conversation: Conversation }) {
  const agent = findAgent(conversation.agent);
  const contextId = conversation.contextId.value;
  const waiting = conversation.waitingTask();
  const running = conversation.runningTask();
  const [text, setText] = useState(
    () => readDraft(conversation.agent, contextId) || (contextId === "" ? inQuery("text") : ""),
  );
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [chosenForm, setForm] = useState<"none" | "fields" | "json">();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [json, setJson] = useState("");
  const [skillId, setSkillId] = useState("");
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const skills = agent?.skills.filter(one => one.inputSchema) ?? [];
  const skill = skills.find(one => one.id === skillId) ?? (agent?.inputSchema ? undefined : skills[0]);
  const fields = fieldsOf(skill?.inputSchema ?? agent?.inputSchema ?? null);
  const answers = waiting;
  const isAuth = answers?.log.state === "auth-required";
  // An agent with an input schema refuses text without data: its form is open from the start.
  const form = chosenForm ?? (agent?.inputSchema && fields.length > 0 && !answers ? "fields" : "none");

  useEffect(() => {
    const taken = draft.value;
    if (!taken || taken.agent !== conversation.agent) return;
    draft.value = undefined;
    setText(taken.text);
    setFiles(taken.parts.map(fromPart));
    area.current?.focus();
  }, [draft.value, conversation]);
  useEffect(() => grow(area.current), [text]);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) area.current?.focus();
  }, [conversation]);
  useKeys([
    {
      key: "Escape",
      label: "Stop the task",
      inFields: true,
      run: () => running && conversation.cancel(running),
    },
  ]);

  const write = (value: string): void => {
    setText(value);
    writeDraft(conversation.agent, contextId, value);
  };
  // A message of this context answers the task that waits in it: a new task needs a context of its own.
  const startOver = (): void => {
    draft.value = { agent: conversation.agent, contextId: "", text, parts: [] };
    write("");
    go(["chat"], { agent: conversation.agent });
  };
  const dataPart = (): V1Part | "wrong" | undefined => {
    if (form === "fields") {
      const read = readForm(fields, values);
      setWrong("wrong" in read ? read.wrong : {});
      return "wrong" in read ? "wrong" : { data: read.value };
    }
    if (form !== "json" || json.trim() === "") return undefined;
    try {
      const data = JSON.parse(json) as Json;
      setWrong({});
      return { data };
    } catch (error) {
      setWrong({ json: `Not JSON: ${error instanceof Error ? error.message : ""}` });
      return "wrong";
    }
  };
  const submit = (event?: Event): void => {
    event?.preventDefault();
    const data = dataPart();
    if (data === "wrong") return;
    const parts: readonly V1Part[] = [
      ...(text.trim() ? [{ text }] : []),
      ...files.map(one => one.part),
      ...(data ? [data] : []),
    ];
    if (parts.length === 0) return;
    conversation.send(parts, answers?.id, form === "none" ? undefined : skill?.id);
    write("");
    setFiles([]);
    setValues({});
    setJson("");
    setForm(undefined);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  const onFiles = async (list: Iterable<File>): Promise<void> => setFiles(await attach(list, files));
  const isEmpty = text.trim() === "" && files.length === 0 && form === "none";
  const other = conversation.otherCaller();
  if (!maySend() || other !== undefined)
    return (
      <div class="composer-wrap">
        <p class="composer-off">
          {other === undefined
            ? "Read only: this token may not send messages."
            : `Read only: this is a conversation of ${oneLine(other, 60)}.`}{" "}
          {maySend() && (
            <Button
              small
              kind="ghost"
              label="New conversation"
              onClick={() => go(["chat"], { agent: conversation.agent })}
            />
          )}
        </p>
      </div>
    );
  return (
    <div class="composer-wrap">
      <form
        class={`composer${answers ? (isAuth ? " is-answer is-auth" : " is-answer") : ""}`}
        onSubmit={submit}
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          event.preventDefault();
          void onFiles(event.dataTransfer?.files ?? []);
        }}
      >
        {answers && (
          <div class="composer-for">
            <Icon name={isAuth ? "auth" : "input"} />
            <span class="grow cut">
              {isAuth
                ? "Waiting for authorization: see above"
                : `Your answer goes to task ${shortId(answers.id)}`}
            </span>
            <Button small kind="ghost" label="New conversation instead" onClick={startOver} />
          </div>
        )}
        {files.length > 0 && (
          <ul class="attached">
            {files.map((file, at) => (
              <li key={at} class="tag">
                <Icon name="file" />
                {oneLine(file.name, 40)} <span class="dim">{bytes(file.size)}</span>
                <button
                  type="button"
                  aria-label={`Remove ${file.name}`}
                  onClick={() => setFiles(files.filter((_, index) => index !== at))}
                >
                  <Icon name="x" />
                </button>
              </li>
            ))}
          </ul>
        )}
        {form !== "none" && skills.length > 0 && (
          <div class="schema-form">
            <label class="lab">
              Skill
              <select
                class="field"
                value={skill?.id ?? ""}
                onChange={event => {
                  setSkillId(event.currentTarget.value);
                  setValues({});
                }}
              >
                {agent?.inputSchema && <option value="">any</option>}
                {skills.map(one => (
                  <option key={one.id} value={one.id}>
                    {oneLine(one.name, 60)}
                  </option>
                ))}
              </select>
            </label>
          </div>
        )}
        {form === "fields" && (
          <SchemaForm
            fields={fields}
            values={values}
            wrong={wrong}
            onChange={(name, value) => setValues({ ...values, [name]: value })}
          />
        )}
        {form === "json" && (
          <div class="schema-form">
            <label class="lab">
              Data
              <textarea
                class="area mono"
                rows={4}
                placeholder='{"member": "value"}'
                value={json}
                aria-invalid={"json" in wrong ? "true" : undefined}
                onInput={event => setJson(event.currentTarget.value)}
              />
              {wrong.json && (
                <span class="is-wrong" role="alert">
                  {wrong.json}
                </span>
              )}
            </label>
          </div>
        )}
        <textarea
          ref={area}
          rows={1}
          aria-label={answers ? "Your answer" : `Message to ${conversation.agent}`}
          placeholder={answers ? "Your answer" : `Message ${oneLine(conversation.agent, 40)}`}
          value={text}
          onInput={event => write(event.currentTarget.value)}
          onKeyDown={onKey}
          onPaste={event => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (pasted.length > 0) {
              event.preventDefault();
              void onFiles(pasted);
            }
          }}
        />
        <div class="composer-foot">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            tabIndex={-1}
            aria-label="Files"
            onChange={event => {
              void onFiles([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = "";
            }}
          />
          <Button kind="ghost" icon="clip" name="Attach files" onClick={() => picker.current?.click()} />
          <Button
            kind="ghost"
            icon="braces"
            name={fields.length > 0 ? "Send data with a form" : "Send data as JSON"}
            pressed={form !== "none"}
            onClick={() => setForm(form !== "none" ? "none" : fields.length > 0 ? "fields" : "json")}
          />
          {form === "fields" && <Button small kind="ghost" label="as JSON" onClick={() => setForm("json")} />}
          <span class="grow" />
          <span class="hide-phone key-hint">
            <kbd>↵</kbd> send <kbd>⇧</kbd>
            <kbd>↵</kbd> new line
          </span>
          {running && isEmpty ? (
            <Button
              kind="primary"
              icon="stop"
              name="Stop the task"
              keys="Esc"
              disabled={running.log.isCanceling}
              onClick={() => conversation.cancel(running)}
            />
          ) : (
            <Button
              kind="primary"
              icon="up"
              type="submit"
              name={answers ? "Send the answer" : "Send"}
              disabled={isEmpty}
            />
          )}
        </div>
      </form>
    </div>
  );
}

function grow(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight, 220)}px`;
}
