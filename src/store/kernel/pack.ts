import { appendedTextJson, type Step, type TaskEvent, textAppendTarget } from "../../model/index.ts";

/** All events that a task gets in one commit, as the text of one row; `unpack` in `../rows/pack.ts` reads it. */
export function pack(steps: readonly Step[]): string {
  let text = "[";
  /** Words of this artifact and this time can be put to the ones before. */
  let artifactId: string | null = null;
  let at = 0;
  for (const step of steps) {
    const words = appendedTextJson(step);
    const id = words === null ? null : textAppendTarget(step.event as TaskEvent);
    if (words !== null && id === artifactId && step.at === at) text += `,${words}`;
    else {
      if (artifactId !== null) text += "]";
      if (text.length > 1) text += ",";
      text +=
        words === null
          ? `[${step.at},${step.json ?? JSON.stringify(step.event)}]`
          : `[${step.at},${JSON.stringify(id)},${words}`;
      // It is not needed any more.
      step.json = null;
      artifactId = id;
      at = step.at;
    }
  }
  return artifactId === null ? `${text}]` : `${text}]]`;
}
