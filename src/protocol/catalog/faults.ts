import type { WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable } from "../shared/faults.ts";

export const FAULTS = toFaultTable({});

export const encodeFault = ({ code, message }: FaultContent): WireFault => ({
  code,
  ...FAULTS[code],
  status: FAULTS[code].http,
  message,
});
