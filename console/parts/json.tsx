import { useMemo, useState } from "preact/hooks";
import { visible } from "../lib/format.ts";
import { Button, copy } from "./basics.tsx";

type Members = readonly (readonly [string, unknown])[];

const ROWS_MAX = 100;
const TEXT_MAX = 2000;

const membersOf = (value: object): Members =>
  Array.isArray(value) ? value.map((one, at) => [String(at), one] as const) : Object.entries(value);

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value === "string") {
    const text = visible(value);
    const cut = text.length > TEXT_MAX && !isWhole;
    return (
      <span class="s" dir="auto">
        "{cut ? text.slice(0, TEXT_MAX) : text}"
        {cut && (
          <button
            class="link"
            type="button"
            onClick={() => setWhole(true)}
          >{` … ${text.length - TEXT_MAX} more`}</button>
        )}
      </span>
    );
  }
  return <span class={typeof value === "number" ? "n" : "w"}>{String(value)}</span>;
}

function Node({
  name,
  value,
  depth,
  open,
  find,
  isLast,
}: {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
  readonly open: number;
  readonly find: string;
  readonly isLast: boolean;
}) {
  const isFound =
    find !== "" &&
    (name?.toLowerCase().includes(find) ||
      (typeof value !== "object" && String(value).toLowerCase().includes(find)));
  const key = name !== undefined && (
    <>
      <span class="k">{isFound ? <mark>{visible(name)}</mark> : visible(name)}</span>
      <span class="p">: </span>
    </>
  );
  if (typeof value !== "object" || value === null)
    return (
      <li class="jt-row">
        {key}
        <span class={isFound ? "jt-found" : ""}>
          <Leaf value={value} />
        </span>
        {!isLast && <span class="p">,</span>}
      </li>
    );
  return <Branch label={key} value={value} depth={depth} open={open} find={find} isLast={isLast} />;
}

function Branch({
  label,
  value,
  depth,
  open,
  find,
  isLast,
}: {
  readonly label: preact.ComponentChildren;
  readonly value: object;
  readonly depth: number;
  readonly open: number;
  readonly find: string;
  readonly isLast: boolean;
}) {
  const members = useMemo(() => membersOf(value), [value]);
  const [isOpen, setOpen] = useState(depth < open);
  const [shown, setShown] = useState(ROWS_MAX);
  const [left, right] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const isExpanded = isOpen || (find !== "" && depth < 8);
  if (members.length === 0)
    return (
      <li class="jt-row">
        {label}
        <span class="p">
          {left}
          {right}
          {!isLast && ","}
        </span>
      </li>
    );
  return (
    <li class="jt-row">
      <button class="jt-toggle" type="button" aria-expanded={isExpanded} onClick={() => setOpen(!isOpen)}>
        {label}
        <span class="p">{left}</span>
        {!isExpanded && (
          <span class="c">{` ${members.length} ${Array.isArray(value) ? (members.length === 1 ? "item" : "items") : members.length === 1 ? "member" : "members"} ${right}`}</span>
        )}
      </button>
      {isExpanded && (
        <>
          <ul class="jt">
            {members.slice(0, shown).map(([key, one], at) => (
              <Node
                key={key}
                {...(!Array.isArray(value) && { name: key })}
                value={one}
                depth={depth + 1}
                open={open}
                find={find}
                isLast={at === members.length - 1}
              />
            ))}
            {members.length > shown && (
              <li>
                <button
                  class="link"
                  type="button"
                  onClick={() => setShown(shown + 10 * ROWS_MAX)}
                >{`${members.length - shown} more`}</button>
              </li>
            )}
          </ul>
          <span class="p">
            {right}
            {!isLast && ","}
          </span>
        </>
      )}
    </li>
  );
}

/** A JSON value as a tree that folds; deep and long values are opened piece by piece. */
export function Json({
  value,
  open = 3,
  find = "",
}: {
  readonly value: unknown;
  readonly open?: number;
  readonly find?: string;
}) {
  return (
    <ul class="jt code is-tree">
      <Node value={value} depth={0} open={open} find={find.toLowerCase()} isLast />
    </ul>
  );
}

/** The same with a head: a name, copy and search. */
export function JsonPanel({
  title,
  value,
  open = 3,
}: {
  readonly title: string;
  readonly value: unknown;
  readonly open?: number;
}) {
  const [find, setFind] = useState("");
  return (
    <div class="json-panel">
      <div class="code-bar">
        <span class="mono grow cut">{title}</span>
        <input
          class="field ev-find"
          type="search"
          aria-label={`Find in ${title}`}
          placeholder="Find"
          value={find}
          onInput={event => setFind(event.currentTarget.value)}
        />
        <Button
          small
          kind="ghost"
          icon="copy"
          label="Copy"
          onClick={() => copy(JSON.stringify(value, null, 2), "Copied the JSON")}
        />
      </div>
      <div class="scroll json-scroll" tabIndex={0} role="group" aria-label={title}>
        <Json value={value} open={open} find={find} />
      </div>
    </div>
  );
}
