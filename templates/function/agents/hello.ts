import { agent } from "dragoman";

export default agent({
  name: "hello",
  description: "Greets you by name",
  async *run(task, ctx) {
    if (task.turn === 1 && task.text.trim() === "") yield ctx.ask("What is your name?");
    for (const word of ["Hello, ", `${task.text}!`]) yield ctx.text(word);
  },
});
