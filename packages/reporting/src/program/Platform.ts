import type { Clock } from "../agent/Clock.ts"
import type { Transport } from "../agent/Transport.ts"

/** A module of Node.js, where there is one. An import of it would not load in browsers. */
export const nodeModule = <Module>(name: `node:${string}`): Module | undefined => {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
  }
  // The caller names the part of the module that it uses.
  return process?.getBuiltinModule?.(name) as Module | undefined
}

/** The surroundings of an agent inside a program. */
export interface Platform {
  readonly clock: Clock
  /** Resolves after a time, or when the signal aborts. */
  readonly sleep: (millis: number, signal: AbortSignal) => Promise<void>
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (message: string) => void
  readonly transport: Transport
  /** Nothing is between that frequent batches could strain, so they have no pause between them. */
  readonly isInProcess?: boolean
  /** Called once the agent is closed. */
  readonly onClosed?: () => void
}

/** Timers take 24 days at most. */
const LONGEST_TIMER_MILLIS = 2 ** 31 - 1

const MILLIS_PER_SECOND = 1_000

/** The program's own clock and timers. */
export const realTime = (): Pick<Platform, "clock" | "sleep" | "random"> => ({
  clock: {
    wall: () => new Date().getTime(),
    steady: () => performance.now(),
    sinceBoot: sinceBoot(nodeModule("node:os")),
  },
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(Math.max(0, millis), LONGEST_TIMER_MILLIS))
      signal.addEventListener("abort", end)
    }),
  // oxlint-disable-next-line eslint/no-restricted-properties -- spreads retries; tests bring their own
  random: () => Math.random(),
})

const sinceBoot = (os: { readonly uptime: () => number } | undefined) => () =>
  os === undefined ? performance.now() : os.uptime() * MILLIS_PER_SECOND
