import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { agents, loadSession, me } from "../lib/admin.ts";
import { access, setToken, token } from "../lib/api.ts";
import { isHelpOpen, isPaletteOpen, PLACES, viewKeys } from "../lib/keys.ts";
import { go } from "../lib/router.ts";
import { type Command, searchAll } from "../lib/search.ts";
import { setTheme } from "../lib/theme.ts";
import { dismiss, toasts } from "../lib/toast.ts";
import { Button, Icon } from "./basics.tsx";
import { isTokenOpen } from "./token-state.ts";

/** A native dialog: Escape closes, focus returns. */
export function Dialog({
  title,
  onClose,
  children,
  foot,
  class: more = "sheet-dialog",
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly foot?: ComponentChildren;
  readonly class?: string;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      class={more}
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={event => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-head">
        <h2 class="grow">{title}</h2>
        <Button kind="ghost" icon="x" name="Close" onClick={() => dialog.current?.close()} />
      </div>
      <div class="dialog-body scroll">{children}</div>
      {foot && <div class="dialog-foot">{foot}</div>}
    </dialog>
  );
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(one => (
        <div key={one.id} class={`toast${one.isError ? " is-error" : ""}`}>
          <span>{one.text}</span>
          {one.action && (
            <button
              type="button"
              onClick={() => {
                one.action?.run();
                dismiss(one.id);
              }}
            >
              {one.action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

export function TokenDialog() {
  const isNeeded = access.value === "required" || access.value === "refused";
  const [value, setValue] = useState("");
  if (!isNeeded && !isTokenOpen.value) return null;
  const close = (): void => {
    isTokenOpen.value = false;
  };
  const use = (event: Event): void => {
    event.preventDefault();
    setToken(value.trim());
    close();
    setValue("");
    void loadSession();
  };
  const forget = (): void => {
    setToken("");
    close();
    me.value = undefined;
    void loadSession();
  };
  return (
    <Dialog key={String(isNeeded)} title={isNeeded ? "Token required" : "Token"} onClose={close}>
      <form class="token-form" onSubmit={use}>
        {access.value === "refused" && (
          <p class="is-wrong" role="alert">
            The token has expired or is not valid. What you wrote is kept.
          </p>
        )}
        {me.value && !isNeeded && (
          <p class="muted">
            Signed in as <b>{me.value.principal}</b>
            {me.value.isOperator ? ", an operator" : ""}.{" "}
            {me.value.mayAct ? "May read and act." : "May only read."}
            {!me.value.needsToken && " This server requires no token."}
          </p>
        )}
        <label class="lab">
          Bearer token
          <input
            class="field"
            type="password"
            autocomplete="off"
            autofocus
            value={value}
            placeholder="drg_…"
            onInput={event => setValue(event.currentTarget.value)}
          />
        </label>
        <p class="dim">
          It is kept in this tab until you close it. Create one with{" "}
          <code>npx dragoman token create --principal NAME --scopes read,send,console:read,console:act</code>.
        </p>
        <div class="actions">
          <Button kind="primary" type="submit" label="Use the token" disabled={value.trim() === ""} />
          {token.value && <Button kind="ghost" label="Forget the token" onClick={forget} />}
        </div>
      </form>
    </Dialog>
  );
}

export function KeyHelp() {
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl K", "Search or run a command"],
    ...PLACES.map(([key, , label]) => [`G ${key.toUpperCase()}`, label] as const),
    ["/", "Find in the view"],
    ["T", "Theme"],
    ["Esc", "Stop, close"],
    ["?", "These keys"],
  ];
  const list = (rows: readonly (readonly [string, string])[]) => (
    <ul class="keys">
      {rows.map(([key, label]) => (
        <li key={key + label}>
          <span>{label}</span>
          <span>
            {key.split(" ").map(one => (
              <kbd key={one}>{one}</kbd>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
  const own = viewKeys.value.map(
    one => [one.key === "Enter" ? "↵" : one.key.toUpperCase(), one.label] as const,
  );
  return (
    <Dialog title="Keys" onClose={() => (isHelpOpen.value = false)}>
      <div class="two">
        <section>
          <h3 class="keys-head">Everywhere</h3>
          {list(keys)}
        </section>
        {own.length > 0 && (
          <section>
            <h3 class="keys-head">In this view</h3>
            {list(own)}
          </section>
        )}
      </div>
    </Dialog>
  );
}

function commandsNow(): readonly Command[] {
  const places = PLACES.map(
    ([key, path, label, icon]): Command => ({
      id: `go-${path}`,
      group: "Go to",
      icon,
      label,
      hint: `G ${key.toUpperCase()}`,
      run: () => go([path]),
    }),
  );
  const here = viewKeys.value
    .filter(one => !/^(?:j|k|Enter|Escape|Arrow.*)$/i.test(one.key))
    .map(
      (one): Command => ({
        id: `key-${one.key}`,
        group: "In this view",
        icon: "right",
        label: one.label,
        hint: one.key.toUpperCase(),
        run: one.run,
      }),
    );
  const talk = (agents.value ?? []).map(
    (one): Command => ({
      id: `chat-${one.name}`,
      group: "Agents",
      icon: "chat",
      label: `Chat with ${one.name}`,
      hint: one.description,
      run: () => go(["chat"], { agent: one.name }),
    }),
  );
  const cards = (agents.value ?? []).map(
    (one): Command => ({
      id: `card-${one.name}`,
      group: "Agents",
      icon: "agents",
      label: `Card of ${one.name}`,
      run: () => go(["agents", one.name]),
    }),
  );
  const settings: readonly Command[] = [
    ...(["light", "dark", "system"] as const).map(name => ({
      id: `theme-${name}`,
      group: "Settings",
      icon: name === "light" ? "sun" : name === "dark" ? "moon" : "system",
      label: `Theme: ${name}`,
      run: () => setTheme(name),
    })),
    { id: "token", group: "Settings", icon: "key", label: "Token", run: () => (isTokenOpen.value = true) },
    {
      id: "keys",
      group: "Settings",
      icon: "info",
      label: "Keys",
      hint: "?",
      run: () => (isHelpOpen.value = true),
    },
  ];
  return [...here, ...places, ...talk, ...cards, ...settings];
}

/** Each word of the search must be in the label or the hint. */
const matches = (command: Command, words: readonly string[]): boolean => {
  const text = `${command.group} ${command.label} ${command.hint ?? ""}`.toLowerCase();
  return words.every(word => text.includes(word));
};

export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [found, setFound] = useState<readonly Command[]>([]);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => searchAll(text, setFound), [text]);
  const fixed = useMemo(commandsNow, []);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = [
    ...fixed.filter(one => matches(one, words)).slice(0, words.length === 0 ? 30 : 12),
    ...found,
  ];
  const groups = [...new Set(shown.map(one => one.group))];
  const ordered = groups.flatMap(group => shown.filter(one => one.group === group));
  const chosen = Math.min(at, ordered.length - 1);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const choose = (command: Command | undefined): void => {
    dialog.current?.close();
    close();
    command?.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((chosen + step + ordered.length) % Math.max(ordered.length, 1));
      requestAnimationFrame(() =>
        list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }),
      );
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(ordered[chosen]);
    }
  };
  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label="Search or run a command"
      onClose={close}
      onClick={event => event.target === dialog.current && close()}
    >
      <div class="palette-in">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant={ordered[chosen] && `opt-${chosen}`}
          aria-label="Search or run a command"
          placeholder="A command, an agent, a task, words"
          value={text}
          onInput={event => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKey}
        />
        <kbd>Esc</kbd>
      </div>
      <div
        class="palette-list scroll"
        id="palette-list"
        role="listbox"
        aria-label="Results"
        ref={list}
        tabIndex={-1}
      >
        {groups.map(group => (
          <div key={group} role="group" aria-label={group}>
            <h3 aria-hidden="true">{group}</h3>
            {ordered.map(
              (one, index) =>
                one.group === group && (
                  <div
                    key={one.id}
                    id={`opt-${index}`}
                    class="opt"
                    role="option"
                    tabIndex={-1}
                    aria-selected={index === chosen}
                    onClick={() => choose(one)}
                    onKeyDown={() => {}}
                    onMouseMove={() => setAt(index)}
                  >
                    <Icon name={one.icon} />
                    <span class="cut">{one.label}</span>
                    <span class="grow" />
                    {one.hint &&
                      (one.hint.length < 5 ? (
                        <kbd>{one.hint}</kbd>
                      ) : (
                        <span class="dim cut opt-hint">{one.hint}</span>
                      ))}
                  </div>
                ),
            )}
          </div>
        ))}
        {ordered.length === 0 && <p class="palette-none">Nothing found for “{text}”</p>}
      </div>
      <div class="palette-foot" aria-hidden="true">
        <span>
          <kbd>↑</kbd>
          <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>↵</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </div>
    </dialog>
  );
}
