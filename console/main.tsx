import { render } from "preact";
import { App } from "./app.tsx";
import { loadSession } from "./lib/admin.ts";
import { startKeys } from "./lib/keys.ts";
import { startRouter } from "./lib/router.ts";
import { startTheme } from "./lib/theme.ts";

startTheme();
startRouter();
startKeys();
const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
void loadSession();
