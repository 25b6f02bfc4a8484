import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { agents, findAgent } from "../../lib/admin.ts";
import { useCrumbs } from "../../lib/crumbs.ts";
import { oneLine } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, href, inQuery, place, replace } from "../../lib/router.ts";
import { store, stored } from "../../lib/theme.ts";
import { Bones, Button, Empty, Icon, Monogram, Note } from "../../parts/basics.tsx";
import { Composer } from "./composer.tsx";
import { Contexts, contexts, rename, titleOf, titles } from "./contexts.tsx";
import { Conversation } from "./conversation.ts";
import { Drawer } from "./drawer.tsx";
import { PendingBlock, TaskBlock } from "./transcript.tsx";

const DRAWER_KEY = "dragoman-drawer";

/** One object per conversation; a new one keeps its object when the address gets its id. */
function useConversation(agent: string, contextId: string): Conversation | undefined {
  const kept = useRef<Conversation | undefined>(undefined);
  const conversation = useMemo(() => {
    const before = kept.current;
    if (before && before.agent === agent && before.contextId.peek() === contextId) return before;
    before?.close();
    kept.current = agent ? new Conversation(agent, contextId, id => replace(["chat", agent, id])) : undefined;
    return kept.current;
  }, [agent, contextId]);
  useEffect(
    () => () => {
      kept.current?.close();
      kept.current = undefined;
    },
    [],
  );
  return conversation;
}

export function Chat() {
  const [, agentInPath = "", contextId = ""] = place.value.path;
  const agent = agentInPath || inQuery("agent");
  const [isListOpen, setListOpen] = useState(false);
  const [isDrawerOpen, setDrawerOpen] = useState(stored(DRAWER_KEY) !== "closed" && innerWidth > 1240);
  const conversation = useConversation(agent, contextId);
  const row = contexts.value?.find(one => one.contextId === contextId && one.agent === agent);
  const title =
    titles.value[contextId] ?? (row ? titleOf(row) : contextId ? "Conversation" : "New conversation");
  useCrumbs({ label: "Chat", href: href(["chat"]) }, title);
  useKeys([{ key: "c", label: "New conversation", run: () => go(["chat"], { agent }) }]);
  const toggleDrawer = (): void => {
    setDrawerOpen(!isDrawerOpen);
    store(DRAWER_KEY, isDrawerOpen ? "closed" : "open");
  };
  const hasDrawer = conversation !== undefined && contextId !== "" && isDrawerOpen;
  return (
    <div class={`chat${hasDrawer ? "" : " is-empty"}`}>
      <Contexts agent={agent} contextId={contextId} isOpen={isListOpen} onClose={() => setListOpen(false)} />
      <section class="talk" aria-label="Conversation">
        <TalkHead
          agent={agent}
          contextId={contextId}
          title={title}
          isDrawerOpen={isDrawerOpen}
          onList={() => setListOpen(!isListOpen)}
          onDrawer={toggleDrawer}
        />
        {conversation && findAgent(agent) ? (
          <>
            <Messages key={agent + contextId} conversation={conversation} />
            <Composer key={`c ${agent}`} conversation={conversation} />
          </>
        ) : (
          <ChooseAgent agent={agent} />
        )}
      </section>
      {hasDrawer && conversation && <Drawer conversation={conversation} isOpen onClose={toggleDrawer} />}
    </div>
  );
}

function TalkHead({
  agent,
  contextId,
  title,
  isDrawerOpen,
  onList,
  onDrawer,
}: {
  readonly agent: string;
  readonly contextId: string;
  readonly title: string;
  readonly isDrawerOpen: boolean;
  readonly onList: () => void;
  readonly onDrawer: () => void;
}) {
  const [name, setName] = useState<string>();
  useEffect(() => setName(undefined), [contextId]);
  const save = (event?: Event): void => {
    event?.preventDefault();
    if (name !== undefined) rename(contextId, name.trim());
    setName(undefined);
  };
  return (
    <header class="talk-head">
      <Button class="only-phone" kind="ghost" icon="left" name="Conversations" onClick={onList} />
      {agent && <Monogram name={agent} size="mid" />}
      {name === undefined ? (
        <div class="grow">
          <h1 class="cut">{title}</h1>
          {agent && <div class="dim cut">{oneLine(agent, 60)}</div>}
        </div>
      ) : (
        <form class="grow" onSubmit={save}>
          <input
            class="field"
            aria-label="Title of the conversation"
            autofocus
            maxLength={120}
            value={name}
            onInput={event => setName(event.currentTarget.value)}
            onBlur={() => save()}
            onKeyDown={event => event.key === "Escape" && setName(undefined)}
          />
        </form>
      )}
      {contextId && name === undefined && (
        <Button class="hide-phone" kind="ghost" small label="Rename" onClick={() => setName(title)} />
      )}
      {contextId && (
        <Button kind="ghost" icon="panel" name="Details" expanded={isDrawerOpen} onClick={onDrawer} />
      )}
    </header>
  );
}

function ChooseAgent({ agent }: { readonly agent: string }) {
  const all = agents.value;
  if (!all) return <Bones />;
  if (agent && all.length > 0)
    return (
      <Empty icon="agents" title="Agent not found">
        <p>There is no agent {oneLine(agent, 60)} on this server, or this caller may not use it.</p>
      </Empty>
    );
  return (
    <div class="empty empty-tall">
      <Icon name="chat" />
      <h2>Which agent?</h2>
      <p>Every agent of this server can be used here, with the same calls as any A2A client.</p>
      <div class="pick">
        {all.slice(0, 30).map(one => (
          <a
            key={one.name}
            class="pick-agent"
            href={href(["chat"], { agent: one.name })}
            title={one.description}
          >
            <Monogram name={one.name} size="mid" />
            <span class="grow">
              <b>{oneLine(one.name, 40)}</b>
              <span class="dim cut">{oneLine(one.description, 90)}</span>
            </span>
          </a>
        ))}
      </div>
    </div>
  );
}

function Examples({ conversation }: { readonly conversation: Conversation }) {
  const agent = findAgent(conversation.agent);
  const examples = agent?.skills.flatMap(skill => skill.examples).slice(0, 6) ?? [];
  return (
    <div class="empty">
      <Monogram name={conversation.agent} size="large" />
      <h2>{oneLine(conversation.agent, 60)}</h2>
      <p>{oneLine(agent?.description ?? "", 300)}</p>
      {examples.length > 0 && (
        <div class="pick-examples">
          {examples.map(text => (
            <button key={text} class="chip" type="button" onClick={() => conversation.send([{ text }])}>
              <Icon name="play" />
              {oneLine(text, 80)}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Follows the end while the reader is there; a reader who scrolled up is not moved. */
function Messages({ conversation }: { readonly conversation: Conversation }) {
  const body = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  useEffect(() => {
    const element = body.current;
    if (!element || !inner.current) return;
    const toEnd = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    toEnd.observe(inner.current);
    toEnd.observe(element);
    return () => toEnd.disconnect();
  }, []);
  const onScroll = (): void => {
    const element = body.current;
    if (!element) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 60;
    setAtEnd(follows.current);
  };
  const tasks = conversation.tasks.value;
  const sending = conversation.sending.value;
  return (
    <div class="talk-scroll">
      <div
        class="talk-body scroll"
        tabIndex={0}
        role="log"
        aria-label="Messages"
        aria-busy={conversation.runningTask() !== undefined}
        ref={body}
        onScroll={onScroll}
      >
        <div class="talk-in" ref={inner}>
          {conversation.isLoading.value && tasks.length === 0 && sending.length === 0 && <Bones rows={4} />}
          {conversation.problem.value && (
            <Note>
              {conversation.problem.value}{" "}
              <Button small label="Try again" onClick={() => conversation.reload()} />
            </Note>
          )}
          {!conversation.isLoading.value &&
            tasks.length === 0 &&
            sending.length === 0 &&
            !conversation.problem.value && <Examples conversation={conversation} />}
          {tasks.map((task, at) => (
            <TaskBlock
              key={task.id}
              task={task}
              conversation={conversation}
              isLast={at === tasks.length - 1}
            />
          ))}
          {sending.map(pending => (
            <PendingBlock key={pending.key} pending={pending} conversation={conversation} />
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <Button
          class="to-end"
          icon="down"
          name="Go to the end"
          onClick={() => {
            follows.current = true;
            body.current?.scrollTo({ top: body.current.scrollHeight });
          }}
        />
      )}
    </div>
  );
}
