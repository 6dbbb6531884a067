import type { Draws } from "../system/Draws.ts"
import type { Happening, Policy, Rota, Step, Story } from "./Story.ts"
import { wallAt } from "./WallClock.ts"

/**
 * Rotas of random stories. Turns, hours and overrides change at full minutes, or with steps: at other seconds
 * than all that is due by time, except ends of windows, quiet hours, silences and acknowledgements.
 */
const NAMES = ["chat", "pager", "mail"] as const
const DAY = 86_400
const MINUTE = 60

type Rotas = Readonly<Record<string, Rota>>
type Receivers = ReadonlyArray<string>

const some = ({ oneOf }: Draws, receivers: Receivers): Receivers => {
  const [first = "", ...others] = receivers
  const one = oneOf(first, ...others)
  const other = oneOf(first, ...others)
  return oneOf([one], [one], one === other ? [one] : [one, other])
}

/** A rota of which a turn begins some minutes after the story. */
const rota = (draws: Draws, begins: string, receivers: Receivers, other?: string): Rota => {
  const { chance, integer, oneOf } = draws
  const tz = oneOf(undefined, "Europe/Berlin", "Europe/Berlin")
  const after = (minutes: number) => wallAt(tz ?? "UTC", Date.parse(begins) / 1_000 + minutes * MINUTE)
  const every = oneOf(3_600, 3_600, 7_200, DAY, 7 * DAY)
  const from = after(oneOf(10, 20, 30, 50)) - integer(4) * every
  const opens = oneOf(0, 10, 20, 40)
  // In an hour that comes twice, an hour later is the same time.
  const hours = { from: after(opens) % DAY, to: after(opens + oneOf(20, 30, 70)) % DAY }
  const weekday = oneOf(["sat"], ["sun"], ["tue", "wed"])
  const days = chance(0.3) && { days: weekday }
  const otherwise = other !== undefined && chance(0.5) ? [other] : some(draws, receivers)
  return {
    ...(tz !== undefined && { tz }),
    order: Array.from({ length: oneOf(1, 2, 2, 2, 3) }, () => some(draws, receivers)),
    every,
    from: new Date(from * 1_000).toISOString().slice(0, 16),
    ...(chance(0.3) && { hours: [{ ...hours, ...days }], otherwise }),
  }
}

const rotasOf = (draws: Draws, begins: string, receivers: Receivers): Rotas => {
  const [hasSecond, isOther] = [draws.chance(0.6), draws.chance(0.4)]
  const { hours: _, otherwise: __, ...secondary } = rota(draws, begins, receivers)
  return {
    primary: rota(draws, begins, receivers, hasSecond && isOther ? "secondary" : undefined),
    ...(hasSecond && { secondary }),
  }
}

/** The same rotas for other receivers. */
const withReceivers = (rotas: Rotas, receivers: Receivers): Rotas => {
  const known = (list: Receivers) => list.filter((name) => receivers.includes(name))
  const first = receivers.slice(0, 1)
  return Object.fromEntries(
    Object.entries(rotas).map(([name, { otherwise, ...one }]): [string, Rota] => {
      const order = one.order.map(known).filter(({ length }) => length > 0)
      const [other = ""] = otherwise ?? []
      const left = rotas[other] === undefined ? known(otherwise ?? []) : [other]
      const outside = otherwise !== undefined && { otherwise: left.length > 0 ? left : first }
      return [name, { ...one, order: order.length > 0 ? order : [first], ...outside }]
    }),
  )
}

/** The policy with rotas; some of its routes name them. */
const withRotas = ({ chance, oneOf }: Draws, policy: Policy, rotas: Rotas): Policy => {
  const second = rotas["secondary"] === undefined ? "primary" : "secondary"
  const to = (names: Receivers): Receivers =>
    chance(0.3)
      ? names
      : oneOf(["primary"], ["primary"], [second], Array.from(new Set(["primary", second])), [
          ...names,
          "primary",
        ])
  const routes = policy.routes?.map((route) => ({
    ...route,
    ...(route.to && { to: to(route.to) }),
    ...(route.steps && { steps: route.steps.map((step) => ({ ...step, to: to(step.to) })) }),
  }))
  return { ...policy, rotas, ...(routes && { routes }) }
}

const override = (draws: Draws): Happening => {
  const { chance, oneOf } = draws
  const [isLater, rota] = [chance(0.25), oneOf("primary", "primary", "secondary")]
  const lasts = isLater ? oneOf(300, 600, 1_200) : oneOf(280, 640, 1_240, 2_440)
  return { step: "override", rota, receivers: some(draws, NAMES), after: isLater ? 280 : 0, lasts }
}

const answers = ({ oneOf }: Draws): Happening => ({
  step: "answers",
  receiver: oneOf(...NAMES),
  how: oneOf("refuses", "refuses", "accepts"),
})

const inserted = (draws: Draws): Happening | undefined => {
  const { chance, integer } = draws
  if (chance(0.2)) return override(draws)
  if (chance(0.1)) return { step: "end_override", which: integer(9) }
  return chance(0.15) ? answers(draws) : undefined
}

/** The story with rotas in nearly each of its policies, and with overrides and refusals. */
export const addRotas = (draws: Draws, story: Story): Story => {
  const { chance, oneOf } = draws
  // In Berlin, an hour comes twice.
  const begins = chance(0.15) ? "2031-10-26T00:20Z" : story.begins
  const first = rotasOf(draws, begins, story.receivers)
  let rotas = first
  const steps = story.steps.flatMap((step, at): ReadonlyArray<Step> => {
    const extra = at > 0 && step.wait > 0 ? inserted(draws) : undefined
    const before = extra === undefined ? [] : [{ ...extra, wait: oneOf(1, 2, 5, 10) * MINUTE }]
    if (step.step !== "policy") return [...before, step]
    const { policy, receivers } = step
    if (chance(0.2)) rotas = rotasOf(draws, begins, receivers)
    const left = withReceivers(rotas, receivers)
    return [...before, { ...step, policy: chance(0.15) ? policy : withRotas(draws, policy, left) }]
  })
  return { ...story, begins, policy: withRotas(draws, story.policy, first), steps }
}
