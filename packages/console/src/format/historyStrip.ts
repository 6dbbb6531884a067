import type { CheckAvailability } from "@tocsin/client"

type Phase = NonNullable<CheckAvailability["phases"]>[number]
type State = Phase["state"]

/** A stretch of the picture during which the state was the same; places run from 0 to 1. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly state: State
  readonly since: number
}

interface Span {
  readonly start: number
  readonly end: number
}

/** The stretches of a check's phases within a span, true to time. Each phase ends where the next begins. */
export const stretchesOf = (phases: ReadonlyArray<Phase>, { start, end }: Span): ReadonlyArray<Stretch> => {
  const length = Math.max(1, end - start)
  const place = (at: number) => Math.min(1, Math.max(0, (at - start) / length))
  return phases.flatMap(({ from, state }, index) => {
    const since = Date.parse(from)
    const next = phases[index + 1]
    const until = next === undefined ? end : Date.parse(next.from)
    const stretch = { from: place(since), to: place(until), state, since: Math.max(since, start) }
    return stretch.to > stretch.from ? [stretch] : []
  })
}

/** The states of a bar from the one that counts least: the worst that occurs in it is shown. */
const BY_WEIGHT = ["ok", "no_data", "planned", "unknown", "late", "warning", "critical"] as const

/** Draws what counts most last, on top of the others. */
export const byWeight = (a: Stretch, b: Stretch): number =>
  BY_WEIGHT.indexOf(a.state) - BY_WEIGHT.indexOf(b.state)

/** Places are fractions: the end of an hour is no part of the next one. */
const NOTHING = 1e-9

/** The state of each of so many equal parts of a span. A part in which data begin shows these. */
export const barsOf = (stretches: ReadonlyArray<Stretch>, count: number): ReadonlyArray<State> => {
  const known = stretches[0]?.state === "no_data" ? stretches.slice(1) : stretches
  return Array.from({ length: count }, (_, bar) => {
    const isIn = ({ from, to }: Stretch) => from * count < bar + 1 - NOTHING && to * count > bar + NOTHING
    const states = known.filter(isIn).map(({ state }) => state)
    return BY_WEIGHT.findLast((state) => states.includes(state)) ?? "no_data"
  })
}

export const timeInStates = (
  stretches: ReadonlyArray<Stretch>,
  { start, end }: Span,
): ReadonlyMap<State, number> => {
  const times = new Map<State, number>()
  for (const { from, to, state } of stretches)
    times.set(state, (times.get(state) ?? 0) + (to - from) * (end - start))
  return times
}

const COUNTED = ["ok", "warning", "critical", "unknown", "late"] as const

/** Whether a check warned, and was in no other state that is known. */
export const hasOnlyWarned = (times: ReadonlyMap<State, number>): boolean =>
  COUNTED.every((state) => times.has(state) === (state === "warning"))

/**
 * The availability in per cent, cut to two decimals: `100` only if it was ok at all times; undefined without data, and
 * of a check that only warned.
 */
export const availabilityOf = (times: ReadonlyMap<State, number>): string | undefined => {
  const millisOf = (state: State) => Math.round(times.get(state) ?? 0)
  const sum = COUNTED.reduce((all, state) => all + millisOf(state), 0)
  if (sum === 0 || hasOnlyWarned(times)) return undefined
  const hundredths = Math.floor((millisOf("ok") * 10_000) / sum)
  const isAlways = COUNTED.every((state) => state === "ok" || !times.has(state))
  return isAlways ? "100" : (Math.min(hundredths, 9_999) / 100).toFixed(2)
}

export const ticksOf = ({ start, end }: Span, steps: number): ReadonlyArray<number> =>
  Array.from({ length: steps + 1 }, (_, index) => start + ((end - start) * index) / steps)
