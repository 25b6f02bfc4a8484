import { agent, type Message } from "dragoman";

/** A conversation: the agent asks for what is missing, and the task waits for the answer. */
export default agent({
  name: "booking",
  description: "Books a trip; asks for the destination and the day if they are not given",
  skills: [
    {
      id: "book-trip",
      name: "Book a trip",
      description: "Books a trip to a place on a day",
      tags: ["travel", "conversation"],
      examples: ["A trip to Lisbon on Friday", "I want to go to Oslo", "Book me a trip"],
    },
  ],

  async *run(task, ctx) {
    // Each message starts a new run, perhaps in another process: variables are not kept between runs.
    // The earlier messages are in the task's history, including that of this turn.
    const { destination, day } = readBookingRequest(task.history);

    // Asking ends the run here. The caller's answer starts the next turn, from the top.
    if (!destination) yield ctx.ask("Where would you like to go?");
    if (!day) yield ctx.ask(`On which day would you like to go to ${destination}?`);

    yield ctx.text(`Booked: ${destination}, ${day}.`);
    // The same result as data, for programs.
    yield ctx.data(
      { destination, day, reference: `${destination}-${day}`.toUpperCase() },
      { name: "booking" },
    );
  },
});

interface BookingRequest {
  destination?: string | undefined;
  day?: string | undefined;
}

/** Reads all messages of the caller. An answer without a known word is the value that was asked for: the first missing one. */
function readBookingRequest(history: readonly Message[]): BookingRequest {
  const request: BookingRequest = {};
  let asked: keyof BookingRequest | undefined;
  for (const message of history) {
    if (message.role !== "user") continue;
    const text = message.parts.map(part => (part.kind === "text" ? part.text : "")).join(" ");
    request.destination = readDestination(text, asked === "destination") ?? request.destination;
    request.day = readDay(text, asked === "day") ?? request.day;
    asked = request.destination ? "day" : "destination";
  }
  return request;
}

const DAY = /\b(?:on\s+)?(today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

function readDay(text: string, isAnswer: boolean): string | undefined {
  return DAY.exec(text)?.[1]?.toLowerCase() ?? (isAnswer ? text.trim() || undefined : undefined);
}

/** "to Lisbon", "to New York on Friday"; as an answer just "Lisbon". */
function readDestination(text: string, isAnswer: boolean): string | undefined {
  const rest = text
    .replace(DAY, "")
    .replace(/[.,!?]/g, " ")
    .trim();
  const named = /\b[Tt]o\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*)/u.exec(rest)?.[1];
  return named ?? (isAnswer ? rest.replace(/^to\s+/i, "") || undefined : undefined);
}
