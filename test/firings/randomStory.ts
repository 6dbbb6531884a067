import { drawsOf, type Draws } from "../system/Draws.ts"
import { addRotas } from "./randomRotas.ts"
import type { Dependency, Happening, Policy, Reported, Route, Step, Story } from "./Story.ts"

/**
 * Steps happen at the 20th second of a minute. Delays end at its 40th second, acknowledgements, silences
 * and windows with it, reminders are due 10 s later than attempts, and openings of a flapping key are whole
 * minutes apart: no step races with work that is due, and none is at the edge of a span.
 */
const BEGINNINGS = ["2031-02-01T08:30Z", "2031-03-30T00:50Z", "2031-07-01T22:50Z"] as const
const DELAYS = [20, 80, 320, 620] as const
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
    ...(at > 0 && { after: at === 1 ? oneOf(80, 320) : 620 }),
    to: to(draws),
  }))
  return {
    ...(chance(0.7) && { match: matchers(draws) }),
    ...(chance(0.4) && { after: oneOf(...DELAYS) }),
    ...(chance(0.15) && { flapping: { openings: 2, within: 1_210, after: 320 } }),
    ...(chance(0.3) && { remind: oneOf(910, 1_210) }),
    ...(chance(0.5) ? { steps } : chance(0.8) && { to: to(draws) }),
  }
}

/** The same for all policies of a story. */
interface Scene {
  readonly begins: (typeof BEGINNINGS)[number]
  readonly hasHosts: boolean
}

/** A parent that is a stale agent ends with a heartbeat, which a service that starts does not have yet. */
const dependency = ({ chance, oneOf }: Draws, { hasHosts }: Scene): Dependency => {
  const checks = ["check_id = load", "check_id = disk", "check_id glob d*", "incident_key = k"] as const
  return {
    parent: [hasHosts && chance(0.6) ? "incident_key glob */@heartbeat" : oneOf(...checks)],
    child: [
      oneOf("check_id glob d*", "check_id = load", "check_id = disk", "label:team = db", "agent_id = b"),
    ],
    equal: oneOf(["agent_id"], ["label:rack"], ["label:rack"], ["label:team"]),
    ...(chance(0.3) && { grace: oneOf(80, 200) }),
  }
}

/** Hours that begin some minutes after the story. */
const quietHours = ({ oneOf }: Draws, { begins }: Scene) => {
  const after = (minutes: number) => (Date.parse(begins) / 1_000 + minutes * 60) % 86_400
  const from = oneOf(0, 10, 30, 60)
  const to = from + oneOf(20, 40, 90)
  return { from: after(from), to: after(to), below: oneOf("critical", "critical", "unknown") } as const
}

const policy = (draws: Draws, scene: Scene): Policy => {
  const { chance, integer, oneOf } = draws
  const window = { for: oneOf(120, 240), match: covered(draws) }
  return {
    ...(chance(0.85) && { routes: Array.from({ length: 1 + integer(3) }, () => route(draws)) }),
    ...(chance(0.5) && {
      dependencies: Array.from({ length: 1 + integer(2) }, () => dependency(draws, scene)),
    }),
    ...(chance(0.3) && { windows: [{ ...window, every: oneOf(1_200, 1_800) }] }),
    ...(chance(0.3) && { quiet: { [oneOf("chat", "chat", "pager")]: quietHours(draws, scene) } }),
  }
}

const receivers = ({ oneOf }: Draws): ReadonlyArray<string> =>
  oneOf(["chat", "pager", "mail"], ["chat", "pager", "mail"], ["chat", "pager"], ["chat"])

/** A policy and its receivers. */
type Rules = Pick<Story, "policy" | "receivers">

/** The same policy for other receivers; it names none that is not configured. */
const withReceivers = (
  policy: Policy,
  receivers: ReadonlyArray<string>,
  nameOf: (name: string) => string,
): Rules => {
  const known = (list: ReadonlyArray<string>) => {
    const found = list.map(nameOf).filter((name) => receivers.includes(name))
    return found.length > 0 ? found : receivers.slice(0, 1)
  }
  const routes = policy.routes?.map((one) => ({
    ...one,
    ...(one.to && { to: known(one.to) }),
    ...(one.steps && { steps: one.steps.map((step) => ({ ...step, to: known(step.to) })) }),
  }))
  const quiet = Object.entries(policy.quiet ?? {}).map(([name, hours]) => [nameOf(name), hours] as const)
  const isQuiet = policy.quiet !== undefined
  return {
    policy: { ...policy, ...(routes && { routes }), ...(isQuiet && { quiet: Object.fromEntries(quiet) }) },
    receivers,
  }
}

const rulesOf = (draws: Draws, scene: Scene): Rules => {
  const names = receivers(draws)
  return withReceivers(policy(draws, scene), names, (name) => name)
}

const NAMES = ["chat", "pager", "mail"]

/** The policy in force, without one of its receivers, or with another one in its place. */
const changeReceivers = ({ chance, oneOf }: Draws, { policy, receivers }: Rules): Rules => {
  const [first = "", ...others] = receivers
  const gone = oneOf(first, ...others)
  const free = NAMES.filter((name) => !receivers.includes(name))
  const [other = free[0]] = chance(0.5) ? free.toReversed() : free
  const isRenamed = other !== undefined && (others.length === 0 || chance(0.6))
  const left = receivers.flatMap((name) => (name !== gone ? [name] : isRenamed ? [other] : []))
  return withReceivers(policy, left, (name) => (isRenamed && name === gone ? other : name))
}

const reported = ({ chance, oneOf }: Draws): Reported => ({
  check: oneOf("disk", "disk-b", "load"),
  status: oneOf("critical", "ok", "warning", "unknown", "ok", "critical"),
  loud: chance(0.8),
  key: oneOf(undefined, "k", "k"),
})

/** Some reports are of one check alone, which changes several times in one batch. */
const report = (draws: Draws): Happening => {
  const { chance, oneOf } = draws
  const results = Array.from({ length: oneOf(1, 1, 2, 3, 4) }, () => reported(draws))
  const [first] = results
  const isOfOne = first !== undefined && chance(0.3)
  return {
    step: "report",
    agent: oneOf("a", "a", "b"),
    results: isOfOne ? results.map((result) => ({ ...result, check: first.check })) : results,
  }
}

/** The scene of a step, and the rules in force before it. */
interface Present extends Scene {
  readonly rules: Rules
}

/** The kinds of steps, by their weight. */
const KINDS: ReadonlyArray<readonly [weight: number, draw: (draws: Draws, present: Present) => Happening]> = [
  [24, report],
  [4, ({ integer, oneOf }) => ({ step: "acknowledge", which: integer(9), lasts: oneOf(...LASTING) })],
  [1, ({ integer }) => ({ step: "withdraw", which: integer(9) })],
  [4, (draws) => ({ step: "silence", match: covered(draws), lasts: draws.oneOf(...LASTING) })],
  [1, ({ integer }) => ({ step: "expire", which: integer(9) })],
  [3, (draws, present) => ({ step: "policy", ...rulesOf(draws, present) })],
  [2, (draws, { rules }) => ({ step: "policy", ...changeReceivers(draws, rules) })],
  [3, ({ oneOf }) => ({ step: oneOf("falls_silent", "falls_silent", "returns"), agent: oneOf("a", "b") })],
  [2, ({ oneOf }) => ({ step: "expect", agent: "a", check: oneOf("disk", "load"), after: 620 })],
  [
    2,
    ({ oneOf }) => ({
      step: "answers",
      receiver: oneOf("chat", "pager"),
      how: oneOf("accepts", "accepts", "is_down", "refuses"),
    }),
  ],
  [
    3,
    ({ oneOf }, { hasHosts }) =>
      hasHosts
        ? { step: oneOf("falls_silent", "returns"), agent: "a" }
        : { step: "stops", lasts: oneOf(60, 300, 900) },
  ],
  [1, ({ oneOf }) => ({ step: "clock_back", by: oneOf(60, 1_800) })],
]

const WEIGHT = KINDS.reduce((sum, [weight]) => sum + weight, 0)

const happening = (draws: Draws, present: Present): Happening => {
  let left = draws.integer(WEIGHT)
  const kind = KINDS.find(([weight]) => (left -= weight) < 0)
  return kind === undefined ? report(draws) : kind[1](draws, present)
}

/** The draws of rotas are others than those of the story that gets them. */
const OF_ROTAS = 1_000_000

/** The story of a number. Every other one has rotas. */
export const randomStory = (number: number): Story => {
  const story = plainStory(number)
  return number % 4 === 1 || number % 4 === 2 ? addRotas(drawsOf(OF_ROTAS + number), story) : story
}

const plainStory = (number: number): Story => {
  const draws = drawsOf(number)
  const { chance, integer, oneOf } = draws
  const scene: Scene = { begins: oneOf(...BEGINNINGS), hasHosts: number % 2 === 1 }
  const begun = rulesOf(draws, scene)
  let rules = begun
  let silences = 0
  const steps = Array.from({ length: 3 + integer(12) }, (_, at): ReadonlyArray<Step> => {
    const minutes = chance(0.2) ? 0 : oneOf(1, 1, 2, 5, 15)
    const step = happening(draws, { ...scene, rules })
    if (step.step === "policy") rules = step
    const first = { ...step, wait: at === 0 ? 20 : minutes * 60 }
    if (step.step !== "silence") return [first]
    silences += 1
    // Some silences end at the instant at which they begin.
    const end = { step: "expire", which: silences - 1 } as const
    return chance(0.3) ? [first, { ...report(draws), wait: 0 }, { ...end, wait: 0 }] : [first]
  })
  return { begins: scene.begins, ...begun, steps: steps.flat() }
}
