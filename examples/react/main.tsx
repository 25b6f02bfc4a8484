import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";

/** `?agent=URL` names another agent. */
const url = new URLSearchParams(location.search).get("agent") ?? "http://127.0.0.1:2024/agents/booking";

createRoot(document.getElementById("page") as HTMLElement).render(
  <StrictMode>
    <Chat url={url} />
  </StrictMode>,
);
