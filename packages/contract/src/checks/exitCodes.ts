import type { CheckStatus } from "../formats/Status.ts"

/** The exit code that stands for a status, by the guidelines for plugins. */
export const EXIT_CODES: Readonly<Record<CheckStatus, number>> = {
  ok: 0,
  warning: 1,
  critical: 2,
  unknown: 3,
}
