/**
 * Thrown by a runtime whose own process has ended during a run: the run is treated as after a crash of the server, by the
 * agent's `onCrash`. The runtime limits how often it throws this in one turn.
 */
export class RunInterrupted extends Error {
  override readonly name = "RunInterrupted";
}
