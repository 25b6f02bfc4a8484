import { equal } from "node:assert/strict";
import { serve } from "../_serve.ts";

const upstream = await serve(new URL("../echo.ts", import.meta.url));
const server = await serve(new URL("dragoman.config.ts", import.meta.url), { UPSTREAM_URL: upstream.url });
try {
  const passed = await server.send("gateway", "hello");
  equal(passed.text, (await upstream.send("echo", "hello")).text);
  const asked = await server.send("chief", "hello");
  equal(asked.text, `We found: ${passed.text}`);
} finally {
  await server.stop();
  await upstream.stop();
}
process.stdout.write("ok\n");
