import { createContext } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { plural, visible } from "../lib/format.ts";
import {
  BRANCH_MAX,
  FOUND_MAX,
  type Found,
  findIn,
  isBranch,
  matches,
  openAtFirst,
} from "../lib/json-tree.ts";
import { Button, copy } from "./basics.tsx";

const TEXT_MAX = 2000;

/** What all rows of a tree know. */
interface Tree {
  readonly open: ReadonlySet<object>;
  /** In lower case; empty: no search. */
  readonly find: string;
  readonly found: ReadonlySet<object>;
}

const TreeContext = createContext<Tree>({ open: new Set(), find: "", found: new Set() });

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

interface RowProps {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly isLast: boolean;
}

function Row({ name, value, isLast }: RowProps) {
  const isFound = matches(useContext(TreeContext).find, name, value);
  const key = name !== undefined && (
    <>
      <span class="k">{isFound ? <mark>{visible(name)}</mark> : visible(name)}</span>
      <span class="p">: </span>
    </>
  );
  if (isBranch(value)) return <Branch label={key} value={value} isLast={isLast} />;
  return (
    <li class="jt-row">
      {key}
      <span class={isFound ? "jt-found" : ""}>
        <Leaf value={value} />
      </span>
      {!isLast && <span class="p">,</span>}
    </li>
  );
}

function Branch({
  label,
  value,
  isLast,
}: {
  readonly label: preact.ComponentChildren;
  readonly value: object;
  readonly isLast: boolean;
}) {
  const tree = useContext(TreeContext);
  const members = useMemo(() => Object.entries(value), [value]);
  const [isOpen, setOpen] = useState(tree.open.has(value));
  const [shown, setShown] = useState(BRANCH_MAX);
  const isList = Array.isArray(value);
  const [left, right] = isList ? ["[", "]"] : ["{", "}"];
  const isExpanded = isOpen || tree.found.has(value);
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
  // Of the rows that are not shown yet, those that a search found.
  const isInTree = ([key, one]: readonly [string, unknown], at: number): boolean =>
    at < shown ||
    (isBranch(one) && tree.found.has(one)) ||
    (tree.found.has(value) && matches(tree.find, isList ? undefined : key, one));
  return (
    <li class="jt-row">
      <button class="jt-toggle" type="button" aria-expanded={isExpanded} onClick={() => setOpen(!isOpen)}>
        {label}
        <span class="p">{left}</span>
        {!isExpanded && (
          <span class="c">{` ${plural(members.length, isList ? "item" : "member")} ${right}`}</span>
        )}
      </button>
      {isExpanded && (
        <>
          <ul class="jt">
            {members
              .filter(isInTree)
              .slice(0, shown + FOUND_MAX)
              .map(([key, one]) => (
                <Row
                  key={key}
                  name={isList ? undefined : key}
                  value={one}
                  isLast={key === members.at(-1)?.[0]}
                />
              ))}
            {members.length > shown && (
              <li>
                <button
                  class="link"
                  type="button"
                  onClick={() => setShown(shown + 10 * BRANCH_MAX)}
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

const NOTHING: Found = { count: 0, isComplete: true, branches: new Set() };

/** A JSON value as a tree that folds; deep and long values are opened piece by piece. */
export function Json({
  value,
  open = 3,
  find = "",
  found = NOTHING,
}: {
  readonly value: unknown;
  readonly open?: number;
  /** In lower case. */
  readonly find?: string;
  readonly found?: Found;
}) {
  const first = useMemo(() => openAtFirst(value, open), [value, open]);
  const tree = useMemo(() => ({ open: first, find, found: found.branches }), [first, find, found]);
  return (
    <TreeContext.Provider value={tree}>
      <ul class="jt code is-tree">
        <Row name={undefined} value={value} isLast />
      </ul>
    </TreeContext.Provider>
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
  const [typed, setTyped] = useState("");
  const find = typed.toLowerCase();
  const found = useMemo(() => findIn(value, find), [value, find]);
  return (
    <div class="json-panel">
      <div class="code-bar">
        <span class="mono grow cut">{title}</span>
        <input
          class="field ev-find"
          type="search"
          aria-label={`Find in ${title}`}
          placeholder="Find"
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
        <span class="muted" aria-live="polite">
          {find !== "" && `${found.count}${found.isComplete ? "" : " or more"} found`}
        </span>
        <Button
          small
          kind="ghost"
          icon="copy"
          label="Copy"
          onClick={() => copy(JSON.stringify(value, null, 2), "Copied the JSON")}
        />
      </div>
      <div class="scroll json-scroll" tabIndex={0} role="group" aria-label={title}>
        <Json value={value} open={open} find={find} found={found} />
      </div>
    </div>
  );
}
