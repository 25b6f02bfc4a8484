import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { shortId, visible } from "../lib/format.ts";
import { stateLook } from "../lib/states.ts";
import { toast } from "../lib/toast.ts";

export function Icon({ name, title }: { readonly name: string; readonly title?: string }) {
  return title ? (
    <svg class="icon" role="img" aria-label={title}>
      <use href={`#i-${name}`} />
    </svg>
  ) : (
    <svg class="icon" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

/** A state of a task: a shape, a word and a colour. */
export function State({
  state,
  pill,
  text,
}: {
  readonly state: string;
  readonly pill?: boolean;
  readonly text?: string;
}) {
  const { look, word } = stateLook(state);
  return (
    <span class={`st is-${look}${pill ? " st-pill" : ""}`}>
      <Icon name={look} />
      <span class="cut">{text ?? word}</span>
    </span>
  );
}

/** A hue from the letters of the name: the same agent has the same colour everywhere. */
function hueOf(name: string): number {
  let hash = 0;
  for (const char of name) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return (Math.imul(hash, 0x9e3779b1) >>> 0) % 360;
}

export function Monogram({
  name,
  size = "",
}: {
  readonly name: string;
  readonly size?: "" | "mid" | "large";
}) {
  const letter = [...name.replace(/^[^\p{L}\p{N}]+/u, "")][0] ?? "?";
  return (
    <span class={`mono-gram ${size && `is-${size}`}`} style={{ "--h": hueOf(name) }} aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  );
}

export function AgentName({ name }: { readonly name: string }) {
  return (
    <span class="agent">
      <Monogram name={name} />
      <span class="cut">{visible(name)}</span>
    </span>
  );
}

export async function copy(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure context there is no clipboard API: the old way needs a selection.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(what);
}

/** The end of an id; a click copies all of it. */
export function Id({ id, what = "id" }: { readonly id: string; readonly what?: string }) {
  return (
    <button
      class="id"
      type="button"
      title={`${id}: copy`}
      onClick={event => {
        event.preventDefault();
        event.stopPropagation();
        void copy(id, `Copied the ${what}`);
      }}
    >
      {shortId(id)}
      <Icon name="copy" />
      <span class="sr">: copy the {what}</span>
    </button>
  );
}

export interface ButtonProps {
  readonly label?: string;
  readonly icon?: string;
  readonly kind?: "primary" | "ghost" | "danger" | "plain";
  readonly small?: boolean;
  readonly onClick?: (event: MouseEvent) => unknown;
  readonly disabled?: boolean;
  readonly type?: "button" | "submit";
  readonly keys?: string;
  readonly class?: string;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  /** For buttons with an icon alone. */
  readonly name?: string;
}

export function Button({
  label,
  icon,
  kind = "plain",
  small,
  onClick,
  disabled,
  type = "button",
  keys,
  name,
  pressed,
  expanded,
  ...rest
}: ButtonProps) {
  const classes = [
    "btn",
    kind !== "plain" && `btn-${kind}`,
    small && "btn-small",
    !label && "btn-icon",
    rest.class,
  ].filter(Boolean);
  const title = name ? (keys ? `${name} (${keys})` : name) : keys;
  return (
    <button
      class={classes.join(" ")}
      type={type}
      disabled={disabled}
      onClick={onClick}
      title={title}
      aria-label={name}
      aria-pressed={pressed}
      aria-expanded={expanded}
    >
      {icon && <Icon name={icon} />}
      {label && <span>{label}</span>}
    </button>
  );
}

export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon?: string;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      {icon && <Icon name={icon} />}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Bones({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class="bones" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} class={`bone w${(at % 3) + 1}`} />
      ))}
    </div>
  );
}

export function Note({
  look = "failed",
  icon = "alert",
  children,
}: {
  readonly look?: string;
  readonly icon?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`note is-${look}`} role="status">
      <Icon name={icon} />
      <div class="grow">{children}</div>
    </div>
  );
}

export interface TabItem {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly count?: number | string | undefined;
}

/** Tabs of the ARIA pattern: arrows move, one is in the order of the Tab key. */
export function Tabs({
  label,
  items,
  chosen,
  onChoose,
  segmented,
  class: more = "",
}: {
  readonly label: string;
  readonly items: readonly TabItem[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  readonly segmented?: boolean;
  readonly class?: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = items.findIndex(item => item.id === chosen);
    const next = items[(at + step + items.length) % items.length];
    if (!next) return;
    onChoose(next.id);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  };
  return (
    <div
      class={`${segmented ? "seg" : "tabs"} ${more}`}
      role="tablist"
      aria-label={label}
      ref={list}
      onKeyDown={move}
    >
      {items.map(item => (
        <button
          key={item.id}
          class="tab"
          type="button"
          role="tab"
          aria-selected={item.id === chosen}
          tabIndex={item.id === chosen ? 0 : -1}
          onClick={() => onChoose(item.id)}
        >
          {item.label}
          {item.count !== undefined && <span class="count">{item.count}</span>}
        </button>
      ))}
    </div>
  );
}

/** The time now, again every second while something that is shown runs. */
export function useNow(isRunning: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs]);
  return now;
}

export function Pairs({
  rows,
}: {
  readonly rows: readonly (readonly [string, ComponentChildren] | undefined | false)[];
}) {
  return (
    <dl class="pairs">
      {rows.map(row => row && [<dt key={`t${row[0]}`}>{row[0]}</dt>, <dd key={`d${row[0]}`}>{row[1]}</dd>])}
    </dl>
  );
}

/** A search field with its glass. */
export function Search({
  label,
  value,
  onInput,
  onEnter,
  placeholder = label,
  class: more = "",
}: {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly onInput: (value: string) => void;
  readonly onEnter?: () => void;
  readonly class?: string;
}) {
  return (
    <div class={`search ${more}`}>
      <Icon name="search" />
      <input
        class="field"
        type="search"
        data-find
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onInput={event => onInput(event.currentTarget.value)}
        onKeyDown={event => event.key === "Enter" && onEnter?.()}
      />
    </div>
  );
}
