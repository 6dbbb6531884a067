import { drawsOf, type Draws } from "../system/Draws.ts"
import type { Happening, Policy, Reported, Step, Story } from "./Story.ts"

/**
 * Stories of one incident that gets worse and milder, minutes before and after it forgets, with steps that name the
 * same people, acknowledgements, silences, and people who cannot be reached. A third of them have a rota.
 */
const NAMES = ["chat", "pager", "mail"] as const
const MINUTE = 60

const someone = ({ oneOf }: Draws): ReadonlyArray<string> =>
  oneOf(["chat"], ["pager"], ["mail"], ["chat", "pager"])

const policyOf = (draws: Draws, hasRota: boolean): Policy => {
  const { chance, oneOf } = draws
  const first = hasRota ? ["primary"] : someone(draws)
  const later = oneOf(80, 320, 620, 920)
  const next = chance(0.3) ? first : someone(draws)
  const last = chance(0.4) ? [{ after: later + 600, to: someone(draws) }] : []
  const route = {
    ...(chance(0.25) && { remind: 1_210 }),
    steps: [{ to: first }, { after: later, to: next }, ...last],
  }
  const mild = { match: ["severity != critical"], to: hasRota ? ["mail"] : someone(draws) }
  const again = oneOf(undefined, undefined, 60, 300, 3_600)
  return {
    ...(again !== undefined && { again_after: again }),
    ...(hasRota && {
      rotas: {
        primary: {
          order: oneOf(
            [["chat"], ["pager"]],
            NAMES.map((name) => [name]),
          ),
          every: 604_800,
          from: "2031-01-31T09:00",
        },
      },
    }),
    routes: chance(0.5) ? [route] : [{ ...route, match: ["severity = critical"] }, mild],
  }
}

const reported = ({ chance, oneOf }: Draws): Reported => ({
  check: oneOf("disk", "disk", "load"),
  status: oneOf("critical", "warning", "critical", "warning", "unknown", "ok"),
  loud: chance(0.9),
  key: "k",
})

const happening = (draws: Draws): Happening => {
  const { chance, oneOf } = draws
  if (chance(0.62)) return { step: "report", agent: "a", results: [reported(draws)] }
  return oneOf<Happening>(
    { step: "acknowledge", which: 0, lasts: oneOf(280, 640, 1_240) },
    { step: "acknowledge", which: 0, lasts: oneOf(640, 4_840) },
    { step: "withdraw", which: 0 },
    { step: "silence", match: [oneOf("check_id = disk", "agent_id = a")], lasts: oneOf(280, 640) },
    { step: "answers", receiver: oneOf(...NAMES), how: oneOf("accepts", "is_down", "loses", "refuses") },
    { step: "answers", receiver: oneOf(...NAMES), how: "accepts" },
    { step: "tests", receiver: oneOf(...NAMES) },
    oneOf<Happening>({ step: "stops", lasts: oneOf(60, 300) }, { step: "clock_back", by: oneOf(60, 1_800) }),
  )
}

/** The story of a number. */
export const randomEpisode = (number: number): Story => {
  const draws = drawsOf(2_000_000 + number)
  const { integer, oneOf } = draws
  const steps = Array.from({ length: 4 + integer(10) }, (_, at): Step => {
    const first: Happening = {
      step: "report",
      agent: "a",
      results: [{ ...reported(draws), status: "critical", loud: true }],
    }
    const minutes = oneOf(1, 2, 5, 9, 10, 11, 15)
    return at === 0 ? { ...first, wait: 20 } : { ...happening(draws), wait: minutes * MINUTE }
  })
  return { begins: "2031-02-01T08:30Z", policy: policyOf(draws, number % 3 === 2), receivers: NAMES, steps }
}
