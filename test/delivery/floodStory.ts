import { drawsOf, type Draws } from "../system/Draws.ts"

/** A move of a story about floods, so long after the one before it. */
export type FloodStep = { readonly wait: number } & (
  | { readonly step: "reports"; readonly results: ReadonlyArray<Reported> }
  /** Of the receivers, one is down or takes messages again. */
  | { readonly step: "answers"; readonly receiver: string; readonly isDown: boolean }
  /** The server that works ends, so many seconds before another one starts, beside a second one or alone. */
  | { readonly step: "restarts"; readonly after: number }
  | { readonly step: "acknowledges"; readonly check: string; readonly lasts: number }
  | { readonly step: "silences"; readonly lasts: number }
  | { readonly step: "takes over"; readonly lasts: number }
)

export interface Reported {
  readonly check: string
  readonly status: "ok" | "warning" | "critical"
}

export interface FloodStory {
  readonly servers: 1 | 2
  readonly isReminding: boolean
  readonly steps: ReadonlyArray<FloodStep>
}

/** Those of a policy: how each gets many messages. */
export const WAYS = {
  messenger: "flood",
  messenger_ann: "flood",
  messenger_bob: "flood",
  messenger_off: "off",
  messenger_over: { over: 3 },
  webhook: "off",
} as const
const NAMES = Object.keys(WAYS)

const statusOf = ({ oneOf }: Draws) => oneOf("warning", "warning", "critical", "critical", "ok")

/** No sum of these is a minute, at whose end either of two messages could be first. */
const waitOf = ({ oneOf }: Draws): number => oneOf(7, 7, 14, 14, 35, 77, 413)

const stepOf = (draws: Draws, at: number, servers: number): FloodStep => {
  const { chance, integer, oneOf } = draws
  const wait = waitOf(draws)
  const count = oneOf(1, 2, 4, 7, 12)
  // Some get worse, milder or resolve; the others are new.
  const checkOf = (n: number) => `check-${chance(0.4) ? integer(at * 3 + 1) : at * 12 + n}`
  const status = statusOf(draws)
  const reported = (n: number): Reported => ({
    check: checkOf(n),
    status: chance(0.6) ? status : statusOf(draws),
  })
  const results = Map.groupBy(
    Array.from({ length: count }, (_, n) => reported(n)),
    ({ check }) => check,
  )
  const reports: FloodStep = {
    wait,
    step: "reports",
    results: Array.from(results.values()).flatMap(([one]) => one ?? []),
  }
  if (at === 0 || chance(0.6)) return reports
  return oneOf<FloodStep>(
    { wait, step: "answers", receiver: oneOf("messenger", ...NAMES), isDown: chance(0.7) },
    { wait, step: "answers", receiver: "messenger", isDown: false },
    { wait, step: "restarts", after: servers === 1 ? oneOf(0, 28, 210) : 0 },
    { wait, step: "acknowledges", check: `check-${integer(at * 12)}`, lasts: 300 },
    { wait, step: "silences", lasts: oneOf(63, 147) },
    { wait, step: "takes over", lasts: oneOf(77, 203) },
  )
}

/** The story of a number. */
export const floodStory = (number: number): FloodStory => {
  const draws = drawsOf(3_000_000 + number)
  const servers = draws.oneOf(1, 2)
  const isReminding = draws.chance(0.3)
  const length = 4 + draws.integer(12)
  const steps = Array.from({ length }, (_, at) => stepOf(draws, at, servers))
  return { servers, isReminding, steps }
}
