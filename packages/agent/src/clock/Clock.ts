import type { Clock } from "@tocsin/reporting/agent/Clock"
import { uptime } from "node:os"

const MILLIS_PER_SECOND = 1_000

export const systemClock: Clock = {
  // oxlint-disable-next-line eslint/no-restricted-properties -- the one place that reads the wall clock
  wall: () => Date.now(),
  steady: () => performance.now(),
  sinceBoot: () => uptime() * MILLIS_PER_SECOND,
}
