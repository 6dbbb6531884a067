import { drawsOf, type Draws } from "../system/Draws.ts"
import type { Dependency, Happening, Policy, Reported, Route, Step, Story } from "./Story.ts"

/**
 * Steps happen at the 20th second of a minute. Delays end at its 40th second, acknowledgements, silences
 * and windows with it, and reminders are due 10 s later than attempts: no step races with work that is due.
 */
const BEGINNINGS = ["2031-02-01T08:30Z", "2031-03-30T00:50Z", "2031-07-01T22:50Z"] as const
const DELAYS = ["20s", "80s", "320s", "620s"] as const
const LASTING = [100, 280, 640, 1_240] as const

const matchers = ({ oneOf }: Draws): ReadonlyArray<string> => [
  oneOf(
    ...(["check_id = disk", "check_id glob d*", "check_id != load", "incident_key = k"] as const),
    ...(["agent_id = a", "label:team = db", "severity = critical", "severity != critical"] as const),
  ),
]

const to = ({ oneOf }: Draws) => oneOf(["chat"], ["pager"], ["chat", "pager"], ["mail"])

/** Silences and windows have a field that is equal to something. */
const covered = ({ oneOf }: Draws): ReadonlyArray<string> =>
  oneOf(
    ...([["check_id = disk"], ["check_id glob d*"], ["incident_key = k"], ["agent_id = a"]] as const),
    ...([["label:team = db"], ["check_id glob d*", "severity != critical"]] as const),
  )

const route = (draws: Draws): Route => {
  const { chance, oneOf } = draws
  const steps = Array.from({ length: 1 + oneOf(1, 1, 2) }, (_, at) => ({
    ...(at > 0 && { after: at === 1 ? oneOf("80s", "320s") : "620s" }),
    to: to(draws),
  }))
  return {
    ...(chance(0.7) && { match: matchers(draws) }),
    ...(chance(0.4) && { after: oneOf(...DELAYS) }),
    ...(chance(0.15) && { flapping: { openings: 2, within: "20m", after: "320s" } }),
    ...(chance(0.3) && { remind: oneOf("910s", "1210s") }),
    ...(chance(0.5) ? { steps } : chance(0.8) && { to: to(draws) }),
  }
}

/** Dependencies are drawn apart: stories without them stay as they are. */
interface Parents {
  readonly draws: Draws
  readonly hasHosts: boolean
}
const OTHERS = 1_000_000

/** A parent that is a stale agent ends with a heartbeat, which a service that starts does not have yet. */
const dependency = ({ draws: { chance, oneOf }, hasHosts }: Parents): Dependency => {
  const checks = ["check_id = load", "check_id = disk", "check_id glob d*", "incident_key = k"] as const
  return {
    parent: [hasHosts && chance(0.6) ? "incident_key glob */@heartbeat" : oneOf(...checks)],
    child: [
      oneOf("check_id glob d*", "check_id = load", "check_id = disk", "label:team = db", "agent_id = b"),
    ],
    equal: oneOf(["agent_id"], ["label:rack"], ["label:rack"], ["label:team"]),
    ...(chance(0.3) && { grace: oneOf("80s", "200s") }),
  }
}

const policy = (draws: Draws, parents: Parents): Policy => {
  const { chance, integer, oneOf } = draws
  const window = { name: "w", tz: "Europe/Berlin", for: oneOf("2m", "4m"), match: covered(draws) }
  return {
    ...(chance(0.85) && { routes: Array.from({ length: 1 + integer(3) }, () => route(draws)) }),
    ...(parents.draws.chance(0.5) && {
      dependencies: Array.from({ length: 1 + parents.draws.integer(2) }, () => dependency(parents)),
    }),
    ...(chance(0.15) && { windows: [{ ...window, cron: oneOf("*/20 * * * *", "*/30 * * * *") }] }),
  }
}

const receivers = ({ oneOf }: Draws): ReadonlyArray<string> =>
  oneOf(["chat", "pager", "mail"], ["chat", "pager", "mail"], ["chat", "pager"], ["chat"])

/** A policy names no receiver that is not configured. */
const policyOf = (draws: Draws, parents: Parents): Pick<Story, "policy" | "receivers"> => {
  const names = receivers(draws)
  const known = (list: ReadonlyArray<string>) => {
    const found = list.filter((name) => names.includes(name))
    return found.length > 0 ? found : names.slice(0, 1)
  }
  const drawn = policy(draws, parents)
  const routes = drawn.routes?.map((one) => ({
    ...one,
    ...(one.to && { to: known(one.to) }),
    ...(one.steps && { steps: one.steps.map((step) => ({ ...step, to: known(step.to) })) }),
  }))
  return { policy: { ...drawn, ...(routes && { routes }) }, receivers: names }
}

const reported = ({ chance, oneOf }: Draws): Reported => ({
  check: oneOf("disk", "disk-b", "load"),
  status: oneOf("critical", "ok", "warning", "unknown", "ok", "critical"),
  loud: chance(0.8),
  key: oneOf(undefined, "k", "k"),
})

/** A check has one result in a report. */
const report = (draws: Draws): Happening => {
  const results = Array.from({ length: draws.oneOf(1, 1, 2, 3) }, () => reported(draws))
  return {
    step: "report",
    agent: draws.oneOf("a", "a", "b"),
    results: Array.from(new Map(results.map((result) => [result.check, result])).values()),
  }
}

/** The kinds of steps, by their weight. */
const KINDS: ReadonlyArray<readonly [weight: number, draw: (draws: Draws, parents: Parents) => Happening]> = [
  [24, report],
  [4, ({ integer, oneOf }) => ({ step: "acknowledge", which: integer(9), lasts: oneOf(...LASTING) })],
  [1, ({ integer }) => ({ step: "withdraw", which: integer(9) })],
  [4, (draws) => ({ step: "silence", match: covered(draws), lasts: draws.oneOf(...LASTING) })],
  [1, ({ integer }) => ({ step: "expire", which: integer(9) })],
  [4, (draws, parents) => ({ step: "policy", ...policyOf(draws, parents) })],
  [2, ({ oneOf }) => ({ step: oneOf("falls_silent", "returns"), agent: oneOf("a", "b") })],
  [1, ({ oneOf }) => ({ step: "expect", agent: "a", check: oneOf("disk", "load"), after: 620 })],
  [
    2,
    ({ oneOf }) => ({
      step: "answers",
      receiver: oneOf("chat", "pager"),
      how: oneOf("accepts", "accepts", "is_down", "refuses"),
    }),
  ],
  [
    2,
    ({ oneOf }, { hasHosts }) =>
      hasHosts
        ? { step: oneOf("falls_silent", "returns"), agent: "a" }
        : { step: "stops", lasts: oneOf(60, 300, 900) },
  ],
  [1, ({ oneOf }) => ({ step: "clock_back", by: oneOf(60, 1_800) })],
]

const WEIGHT = KINDS.reduce((sum, [weight]) => sum + weight, 0)

const happening = (draws: Draws, parents: Parents): Happening => {
  let left = draws.integer(WEIGHT)
  const kind = KINDS.find(([weight]) => (left -= weight) < 0)
  return kind === undefined ? report(draws) : kind[1](draws, parents)
}

/** The story of a number. */
export const randomStory = (number: number): Story => {
  const draws = drawsOf(number)
  const { chance, integer, oneOf } = draws
  const parents = { draws: drawsOf(number + OTHERS), hasHosts: number % 2 === 1 }
  const steps = Array.from({ length: 3 + integer(12) }, (_, at): Step => {
    const minutes = chance(0.2) ? 0 : oneOf(1, 1, 2, 5, 15)
    return { ...happening(draws, parents), wait: at === 0 ? 20 : minutes * 60 }
  })
  return { begins: oneOf(...BEGINNINGS), ...policyOf(draws, parents), steps }
}
