import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { loadWaiting, me, trouble, waiting } from "./lib/admin.ts";
import { access } from "./lib/api.ts";
import { crumbs } from "./lib/crumbs.ts";
import { startFeed } from "./lib/feed.ts";
import { isHelpOpen, isPaletteOpen } from "./lib/keys.ts";
import { href, place, replace, viewName } from "./lib/router.ts";
import { nextTheme, theme } from "./lib/theme.ts";
import { Bones, Button, Empty, Icon } from "./parts/basics.tsx";
import { ConnectionMark } from "./parts/connection.tsx";
import { KeyHelp, Palette, Toasts, TokenDialog } from "./parts/overlays.tsx";

const VIEWS: Readonly<Record<string, () => Promise<ComponentType>>> = {
  chat: async () => (await import("./views/chat/index.tsx")).Chat,
  tasks: async () => (await import("./views/tasks/index.tsx")).Tasks,
  inbox: async () => (await import("./views/inbox.tsx")).Inbox,
  agents: async () => (await import("./views/agents/index.tsx")).Agents,
  deliveries: async () => (await import("./views/deliveries.tsx")).Deliveries,
  server: async () => (await import("./views/server/index.tsx")).Server,
  docs: async () => (await import("./views/docs.tsx")).Docs,
};

const RAIL = [
  ["chat", "Chat", "chat"],
  ["tasks", "Tasks", "tasks"],
  ["inbox", "Inbox", "inbox"],
  ["agents", "Agents", "agents"],
  ["deliveries", "Deliveries", "send"],
  ["server", "Server", "server"],
] as const;

function Rail() {
  const current = viewName.value;
  const item = (view: string, label: string, icon: string, more = "") => (
    <a
      key={view}
      class={`rail-item ${more}`}
      href={href([view])}
      aria-current={current === view ? "page" : undefined}
    >
      <Icon name={icon} />
      <span>{label}</span>
      {view === "inbox" && waiting.value > 0 && (
        <span class="rail-badge">
          {waiting.value > 99 ? "99+" : waiting.value}
          <span class="sr"> waiting</span>
        </span>
      )}
    </a>
  );
  return (
    <nav class="rail" aria-label="Console">
      <a class="brand" href={href(["chat"])} aria-label="Dragoman, start">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path class="b1" d="M4 3h7.5a8.5 8.5 0 0 1 8.4 8H4z" />
          <path class="b2" d="M4 13h15.9a8.5 8.5 0 0 1-8.4 8H4z" />
        </svg>
      </a>
      {RAIL.map(([view, label, icon]) =>
        item(view, label, icon, /deliveries|server/.test(view) ? "is-second" : ""),
      )}
      <button class="rail-item only-phone" type="button" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="more" />
        <span>More</span>
      </button>
      <div class="rail-foot">{item("docs", "Docs", "docs")}</div>
    </nav>
  );
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

function TopBar() {
  const trail = crumbs.value;
  return (
    <header class="topbar">
      <nav class="crumbs" aria-label="Breadcrumbs">
        <ol>
          <li>
            <a href={href(["server"])}>{location.host}</a>
          </li>
          {trail.map((crumb, at) => (
            <li key={crumb.label}>
              {at === trail.length - 1 ? (
                <span class="cut" aria-current="page">
                  {crumb.label}
                </span>
              ) : (
                <a href={crumb.href ?? href([])}>{crumb.label}</a>
              )}
            </li>
          ))}
        </ol>
      </nav>
      <button
        class="finder"
        type="button"
        aria-keyshortcuts="Meta+K Control+K"
        onClick={() => (isPaletteOpen.value = true)}
      >
        <Icon name="search" />
        <span class="finder-text">Search or run a command</span>
        <kbd aria-hidden="true">{IS_MAC ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <ConnectionMark />
      <Button
        kind="ghost"
        icon={theme.value === "light" ? "sun" : theme.value === "dark" ? "moon" : "system"}
        name={`Theme: ${theme.value}`}
        keys="T"
        onClick={nextTheme}
      />
    </header>
  );
}

function View() {
  const name = viewName.value;
  const [loaded, setLoaded] = useState<{ readonly name: string; readonly view: ComponentType }>();
  const [failure, setFailure] = useState("");
  useEffect(() => {
    const load = VIEWS[name];
    let isCurrent = true;
    load?.().then(
      view => isCurrent && setLoaded({ name, view }),
      () =>
        isCurrent &&
        setFailure(
          "A part of the page could not be loaded. The server may have been updated: load the page again.",
        ),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  if (failure)
    return (
      <Empty icon="alert" title="The page is incomplete">
        <p>{failure}</p>
        <Button kind="primary" label="Load again" onClick={() => location.reload()} />
      </Empty>
    );
  if (!VIEWS[name])
    return (
      <Empty icon="search" title="Page not found">
        <p>The console has no page at this address.</p>
        <a class="btn" href={href(["chat"])}>
          Open the chat
        </a>
      </Empty>
    );
  if (loaded?.name !== name) return <Loading />;
  return <loaded.view />;
}

const Loading = () => (
  <div class="page" aria-busy="true">
    <Bones rows={9} />
  </div>
);

export function App() {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (viewName.value === "") replace(["chat"]);
  }, [viewName.value]);
  useEffect(() => {
    if (!me.value) return;
    return startFeed(() => void loadWaiting().catch(() => {}));
  }, [me.value]);
  useEffect(() => {
    document.title = [...crumbs.value.map(one => one.label).reverse(), "Dragoman"].join(" · ");
  }, [crumbs.value]);
  const isFixed = viewName.value === "chat";
  const isLocked = !me.value && (access.value === "required" || access.value === "refused");
  return (
    <div class={`app ${isFixed ? "is-fixed" : ""}`} data-view={place.value.path[0]}>
      <a
        class="skip"
        href="#main"
        onClick={event => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <Rail />
      <TopBar />
      <main id="main" tabIndex={-1} ref={main}>
        {trouble.value ? (
          <Empty icon="alert" title="The console cannot work here">
            <p>{trouble.value}</p>
            <Button label="Try again" icon="retry" onClick={() => location.reload()} />
          </Empty>
        ) : (
          !isLocked && (me.value ? <View /> : <Loading />)
        )}
      </main>
      <Palette />
      {isHelpOpen.value && <KeyHelp />}
      <TokenDialog />
      <Toasts />
    </div>
  );
}
