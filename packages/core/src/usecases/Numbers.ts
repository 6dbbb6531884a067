import { ValidationError } from "@tocsin/contract/Errors"
import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import {
  type NumbersAnswer,
  type NumbersParameters,
  type NumberSeries,
  type NumberStep,
  stepMillis,
} from "@tocsin/contract/Numbers"
import { Effect } from "effect"
import type { NumberMemory } from "./NumberMemory.ts"
import { reachedBounds } from "../numbers/NumberBounds.ts"
import {
  HOURS_KEPT,
  namedBy,
  nameKey,
  type NumberPart,
  PART_KINDS,
  type PartKind,
  partKinds,
  startOf,
} from "../numbers/NumberPart.ts"
import { type Reading, readingsOf } from "../numbers/readings.ts"
import { longer, mergeSpans, type Span, type Spans } from "../numbers/Span.ts"
import type { Storage } from "../ports/Storage.ts"
import { noSuch, NotFound } from "./OperationErrors.ts"

const DAY = stepMillis["1d"]
const USUAL_SPANS = 1_000
const MOST_SPANS = 2_500

/** For each step, the rows that have it, and how many of their spans it takes. */
const STEPS = {
  "5m": { kinds: ["hour"], many: 1 },
  "1h": { kinds: ["day", "late"], many: 1 },
  "1d": { kinds: ["day", "late"], many: DAY / stepMillis["1h"] },
} as const satisfies Record<NumberStep, { kinds: ReadonlyArray<PartKind>; many: number }>

const isFine = (step: NumberStep, from: number, to: number, now: number): boolean =>
  (to - from) / stepMillis[step] <= USUAL_SPANS &&
  (step !== "5m" || from > now - HOURS_KEPT - stepMillis[step])

const noNumbers = () =>
  new NotFound({
    message:
      "no numbers are kept: set SERVICE_NUMBERS_SERIES above 0, and use a storage that has them (docs/numbers.md)",
  })

/** Spans of one length by their start, of all parts of a series. */
const timeline = (parts: ReadonlyArray<NumberPart>, step: NumberStep): ReadonlyMap<number, Span> => {
  const merged = new Map<number, Spans>()
  for (const { spans, start } of parts) merged.set(start, mergeSpans(merged.get(start) ?? [], spans))
  const { many } = STEPS[step]
  return new Map(
    Array.from(merged)
      .toSorted(([a], [b]) => a - b)
      .flatMap(([start, spans]) => {
        const all = many === 1 ? spans : longer(whole(spans, many), many)
        return all.flatMap((span, place) =>
          span === undefined ? [] : [[start + place * stepMillis[step], span] as const],
        )
      }),
  )
}

const whole = (spans: Spans, length: number): Spans => Array.from({ length }, (_, place) => spans[place])

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** Reads numbers over time (docs/rules.md#numbers). */
export const readingNumbers = (storage: Storage["Service"], memory: NumberMemory["Service"]) => {
  /** The check, and the storage of its numbers, which has what this server measured of it until now. */
  const open = Effect.fnUntraced(function* (agentId: AgentId, checkId: CheckId) {
    const { numbers } = memory
    if (numbers === undefined) return yield* noNumbers()
    const check = yield* storage.check(agentId, checkId)
    if (check === undefined) return yield* noSuch("check")
    // A storage that takes no writes has what was written before.
    yield* Effect.ignore(memory.write(numbers, check))
    return { check, numbers }
  })
  return {
    /** The bounds that what is stored has reached, where `most` series are kept in all. */
    reachedBounds: Effect.fnUntraced(function* (most: number) {
      const series = yield* storage.numbers?.series() ?? Effect.succeed([])
      return reachedBounds(series, { most, now: Instant.toMillis(yield* Instant.now) })
    }),
    /** The series of a check, with their last values and the bounds that its newest output states. */
    ofCheck: Effect.fnUntraced(function* (agentId: AgentId, checkId: CheckId) {
      const { check, numbers } = yield* open(agentId, checkId)
      // The duration of a result goes before a number of that name.
      const stated = readingsOf({
        duration_ms: 1,
        ...(check.summary !== undefined && { output: check.summary }),
      })
      const inOrder = (yield* numbers.series(check)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      const items = yield* Effect.forEach(inOrder, ({ name, newest, unit }) =>
        Effect.map(
          numbers.parts({ ...check, name, from: startOf("day", newest), to: newest + DAY, kinds: partKinds }),
          (parts) => ({
            name,
            unit,
            ...lastOf(parts.filter((part) => part.unit === unit)),
            ...shownBounds(stated.find((reading) => reading.name === name && reading.unit === unit)),
          }),
        ),
      )
      return { items }
    }),
    /** Spans of the series of a check, of a step that fits the time. */
    read: Effect.fnUntraced(function* ({ agent_id, check_id, name, ...asked }: NumbersParameters) {
      const { first, step, to } = yield* spanOf(asked, Instant.toMillis(yield* Instant.now))
      const { check, numbers } = yield* open(agent_id, check_id)
      const { kinds } = STEPS[step]
      // Hours keep seven digits: others would be noise.
      const shown = (value: number) => (step === "5m" ? value : Number(value.toPrecision(7)))
      const parts = yield* numbers.parts({ ...check, name, kinds, from: startOf(kinds[0], first), to })
      const named = Array.from(Map.groupBy(parts, nameKey)).toSorted(byName)
      const series = named.map(([key, all]) => ({
        ...namedBy(key),
        spans: Array.from(timeline(all, step)).flatMap(([at, { count, last, least, mean, most }]) =>
          at < first || at >= to
            ? []
            : [
                {
                  at: Instant.fromMillis(at),
                  count,
                  min: shown(least),
                  max: shown(most),
                  mean: shown(mean),
                  last: shown(last),
                },
              ],
        ),
      }))
      return { step, series } satisfies NumbersAnswer
    }),
  }
}

const lastOf = (parts: ReadonlyArray<NumberPart>): Pick<NumberSeries, "last" | "last_at"> => {
  const exact = parts.filter(({ kind }) => kind !== "day")
  const last = (exact.length > 0 ? exact : parts)
    .flatMap(({ kind, spans, start }) =>
      spans.flatMap((span, place) =>
        span === undefined ? [] : [{ span, at: start + (place + span.lastAt) * PART_KINDS[kind].span }],
      ),
    )
    .toSorted((a, b) => a.at - b.at)
    .at(-1)
  return last === undefined
    ? { last: null, last_at: null }
    : { last: last.span.last, last_at: Instant.fromMillis(Math.round(last.at)) }
}

const shownBounds = ({ crit, max, min, warn }: Partial<Reading> = {}) => ({
  warn: warn ?? null,
  crit: crit ?? null,
  min: min ?? null,
  max: max ?? null,
})

/** Where spans begin and end that a reader asks for, and how long each is. */
const spanOf = Effect.fnUntraced(function* (
  asked: Pick<NumbersParameters, "from" | "step" | "to">,
  now: number,
): Effect.fn.Return<
  { readonly first: number; readonly step: NumberStep; readonly to: number },
  ValidationError
> {
  const to = asked.to === undefined ? now : Instant.toMillis(asked.to)
  const from = asked.from === undefined ? to - DAY : Instant.toMillis(asked.from)
  if (from >= to)
    return yield* new ValidationError({ message: "from must be before to, by a millisecond or more" })
  const step = asked.step ?? (["5m", "1h"] as const).find((one) => isFine(one, from, to, now)) ?? "1d"
  const length = stepMillis[step]
  const first = Math.floor(from / length) * length
  if ((to - first) / length <= MOST_SPANS) return { first, step, to }
  return yield* new ValidationError({
    message: `from, to and step must give at most ${MOST_SPANS} spans: choose a longer step or a later from`,
  })
})
