import { deepEqual, equal, match } from "node:assert/strict";
import { serve } from "./_serve.ts";

/** The agents that are one file each. */
const server = await serve(new URL("./", import.meta.url));
try {
  const [echo, countdown, reporter, slow, research] = await Promise.all([
    server.send("echo", "hello"),
    server.send("countdown", "from 2"),
    server.send("reporter", "to be or not to be"),
    server.send("slow", "Work for 1 second"),
    server.send("research", "octopuses"),
  ]);
  equal(echo.text, "You said: hello");
  equal(countdown.text, "2 … 1 … Lift-off!");
  equal(reporter.text, "6 words, 4 different.");
  equal(slow.text, "Done after 1 seconds of hard work.");
  match(research.text, /^What is known about octopuses:\n- the archive has \d+ pages\n/);

  const asked = await server.send("booking", "A trip to Lisbon");
  equal(asked.statusText, "On which day would you like to go to Lisbon?");
  const booked = await server.send("booking", "Friday", asked.taskId);
  deepEqual(booked.data.booking, { destination: "Lisbon", day: "friday", reference: "LISBON-FRIDAY" });
} finally {
  await server.stop();
}
process.stdout.write("ok\n");
