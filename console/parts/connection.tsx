import { useEffect, useState } from "preact/hooks";
import { me } from "../lib/admin.ts";
import { access, token } from "../lib/api.ts";
import { isFeedOpen } from "../lib/feed.ts";
import { lostConnections } from "../lib/sse.ts";
import { isTokenOpen } from "./token-state.ts";

/** Live, reconnecting, offline, or what the token allows; a click opens the token. */
export function ConnectionMark() {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = (): void => setOnline(navigator.onLine);
    addEventListener("online", update);
    addEventListener("offline", update);
    return () => {
      removeEventListener("online", update);
      removeEventListener("offline", update);
    };
  }, []);
  const lost = [...lostConnections.value.values()][0];
  const text = !isOnline
    ? "Offline"
    : lost
      ? `Reconnecting${lost.from ? ` from event ${lost.from}` : ""}`
      : access.value === "required"
        ? "Token required"
        : access.value === "refused"
          ? "Token expired or not valid"
          : me.value?.console === "read" || (me.value && !me.value.mayAct)
            ? "Live, read only"
            : isFeedOpen.value
              ? "Live"
              : "Connecting";
  const isLost = !text.startsWith("Live");
  const who = me.value ? `${me.value.principal}${token.value ? ", with a token" : ""}` : "";
  return (
    <button
      class={`conn${isLost ? " is-lost" : ""}`}
      type="button"
      title={who && `Signed in as ${who}`}
      onClick={() => (isTokenOpen.value = true)}
    >
      <span class="dot" />
      <span class="conn-text" role="status">
        <span class="sr">Connection: </span>
        {text}
      </span>
    </button>
  );
}
