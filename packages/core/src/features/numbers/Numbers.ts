import { ValidationError } from "@tocsin/contract/formats/Errors"
import { type AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  type NumbersAnswer,
  type NumbersParameters,
  type NumberSeries,
  type NumberStep,
  type SeriesOfCheck,
  stepMillis,
} from "@tocsin/contract/numbers/Numbers"
import { HERE } from "@tocsin/contract/watches/places"
import { PLACE_CHECKS } from "@tocsin/contract/watches/watchOptions"
import { Duration, Effect } from "effect"
import type { NumberMemory } from "./NumberMemory.ts"
import { boundReached, notKept, reachedBounds } from "./NumberBounds.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { HOURS_KEPT, nameKey, PART_KINDS, startOf } from "./NumberPart.ts"
import { boundsOf, DURATION, type Reading, readingsOf } from "./readings.ts"
import { type Asked, eachPiece, type ReadSeries, readSpans } from "./readSpans.ts"
import type { NumberStorage, KnownSeries, NumberPart, PartKind } from "../../kernel/ports/NumberStorage.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { noSuch, NotFound } from "../../kernel/engine/OperationErrors.ts"

const DAY = stepMillis["1d"]
const USUAL_SPANS = 1_000
const MOST_SPANS = 2_500
/** A reader does not wait longer for what is not written. */
const WRITTEN_WITHIN = Duration.seconds(2)

const isFine = (step: NumberStep, from: number, to: number, now: number): boolean =>
  (to - from) / stepMillis[step] <= USUAL_SPANS &&
  (step !== "5m" || from > now - HOURS_KEPT - stepMillis[step])

/** Checks of which it is said by how much they exceed their bound: one plugin may run on many hosts. */
const MOST_LOOKS = 50

/** The numbers that the newest output of a check states. Its duration comes first, before a number of that name. */
const statedBy = ({ summary }: Pick<CheckRecord, "summary">): ReadonlyArray<Reading> =>
  readingsOf({ duration_ms: 1, ...(summary !== undefined && { output: summary }) })

const noNumbers = () =>
  new NotFound({
    message:
      "no numbers are kept: set SERVICE_NUMBERS_SERIES above 0, and use a storage that has them (docs/numbers.md)",
  })

const isDuration = ({ name }: ReadSeries): boolean => name === DURATION.name

/** From the part that has an exact moment to the coarsest. */
const LAST_IN = ["hour", "late", "day"] as const satisfies ReadonlyArray<PartKind>

interface Last {
  readonly value: number
  readonly at: number
}

/** The last values of the series of a check by their names. Those that ended on one day are read together. */
export const readLast = Effect.fnUntraced(function* (
  numbers: NumberStorage<StorageError>,
  check: CheckRef,
  series: ReadonlyArray<KnownSeries>,
) {
  const now = Instant.toMillis(yield* Instant.now)
  const last = new Map<string, Last>()
  const note = (parts: ReadonlyArray<NumberPart>) => {
    for (const { kind, spans, start, ...named } of parts)
      for (const [place, span] of spans.entries()) {
        const at = span === undefined ? now : start + (place + span.lastAt) * PART_KINDS[kind].span
        // A later moment is of a clock that was ahead.
        const isLater = at > (last.get(nameKey(named))?.at ?? 0) && at <= now + PART_KINDS.hour.span
        if (span !== undefined && isLater) last.set(nameKey(named), { value: span.last, at })
      }
  }
  for (const [day, ended] of Map.groupBy(series, ({ newest }) => startOf("day", Math.min(newest, now))))
    for (const kind of LAST_IN) {
      const lacking = ended.filter((one) => !last.has(nameKey(one)))
      if (lacking.length === 0) break
      const from = Math.min(...lacking.map(({ newest }) => Math.min(newest, now)))
      const name = lacking.length === 1 ? lacking[0]?.name : undefined
      yield* eachPiece(numbers, { ...check, name, kinds: [kind], from, to: day + DAY }, note)
    }
  return last
})

/** The bounds that what is stored has reached, where `most` series are kept in all, and by how much checks exceed theirs. */
const readBounds = Effect.fnUntraced(function* (storage: Storage["Service"], most: number) {
  const series = yield* storage.numbers?.series() ?? Effect.succeed([])
  const now = Instant.toMillis(yield* Instant.now)
  const { checks, ...reached } = reachedBounds(series, { most, now })
  const full = yield* Effect.forEach(checks.slice(0, MOST_LOOKS), ([agent, id]) =>
    Effect.map(storage.check(agent, id), (check) => {
      const all = series.filter(({ agent_id, check_id }) => agent_id === agent && check_id === id)
      const more = check === undefined ? 0 : notKept(statedBy(check).slice(1), all, now).length
      return [agent, id, more] as const
    }),
  )
  return { ...reached, checks: full.filter(([, , more]) => more > 0) }
})

/** The checks whose numbers are read, with what this server measured of them until now. */
const openingNumbers = (storage: Storage["Service"], memory: NumberMemory["Service"]) => {
  /** The check, and the storage of its numbers, which has what this server measured of it until now. */
  const open = Effect.fnUntraced(function* (agentId: AgentId, checkId: CheckId) {
    const { numbers } = memory
    if (numbers === undefined) return yield* noNumbers()
    const check = yield* written(numbers, agentId, checkId)
    if (check === undefined) return yield* noSuch("check")
    return { check, numbers }
  })
  const written = Effect.fnUntraced(function* (
    numbers: NumberStorage<StorageError>,
    agentId: AgentId,
    checkId: CheckId,
  ) {
    const check = yield* storage.check(agentId, checkId)
    // A storage that takes no writes has what was written before.
    if (check !== undefined)
      yield* Effect.ignore(Effect.timeoutOption(memory.write(numbers, check), WRITTEN_WITHIN))
    return check
  })
  /** How long the places of a watch took, each with its name: all but the service report it as a check of their own. */
  const ofPlaces = Effect.fnUntraced(function* (
    numbers: NumberStorage<StorageError>,
    places: ReadonlyArray<AgentId>,
    { own, ...asked }: Asked & { readonly own: ReadonlyArray<ReadSeries> },
  ) {
    const found = yield* Effect.forEach(places, (place) =>
      Effect.gen(function* () {
        if (place === HERE) return own.filter(isDuration).map((series) => ({ ...series, place }))
        const check = yield* written(numbers, place, CheckId.make(PLACE_CHECKS + asked.check.check_id))
        if (check === undefined) return []
        const series = yield* readSpans(numbers, { ...asked, check, name: DURATION.name })
        return series.map((one) => ({ ...one, place }))
      }),
    )
    return [...found.flat(), ...own.filter((series) => !isDuration(series))]
  })
  return { ofPlaces, open }
}

/**
 * Reads numbers over time (docs/rules.md#numbers). `shared` runs once for all concurrent callers; `placesOf` are the
 * places of the watch of a check, if it has others than the service.
 */
export const readingNumbers = (
  storage: Storage["Service"],
  memory: NumberMemory["Service"],
  shared: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Effect.Effect<A, E>>,
  placesOf: (check: CheckRef) => Effect.Effect<ReadonlyArray<AgentId>, StorageError>,
) => {
  const { ofPlaces, open } = openingNumbers(storage, memory)
  const underWay = new Map<string, Effect.Effect<NumbersAnswer, StorageError>>()
  return {
    reachedBounds: (most: number) => readBounds(storage, most),
    /** The series of a check, with their last values and the bounds that its newest output states. */
    ofCheck: Effect.fnUntraced(function* (agentId: AgentId, checkId: CheckId) {
      const { check, numbers } = yield* open(agentId, checkId)
      const stated = statedBy(check)
      const series = (yield* numbers.series(check)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      const lastOf = yield* readLast(numbers, check, series)
      const items = series.map(({ name, unit }): NumberSeries => {
        const last = lastOf.get(nameKey({ name, unit }))
        return {
          name,
          unit,
          last: last?.value ?? null,
          last_at: last === undefined ? null : Instant.fromMillis(Math.round(last.at)),
          ...shownBounds(stated.find((reading) => reading.name === name && reading.unit === unit)),
        }
      })
      const now = Instant.toMillis(yield* Instant.now)
      const left = notKept(stated.slice(1), series, now)
      const all = left.length === 0 ? [] : yield* numbers.series()
      const because = boundReached(agentId, { series, all, most: memory.most, now })
      return {
        items,
        not_kept: left.map(({ name, unit }) => ({ name, unit, because })),
      } satisfies SeriesOfCheck
    }),
    /** Spans of the series of a check, of a step that fits the time. */
    read: Effect.fnUntraced(function* ({ agent_id, check_id, name, ...asked }: NumbersParameters) {
      const { first, step, to } = yield* spanOf(asked, Instant.toMillis(yield* Instant.now))
      const { check, numbers } = yield* open(agent_id, check_id)
      const places = yield* placesOf(check)
      const { registration_id } = check
      const key = JSON.stringify([
        registration_id,
        places,
        check_id,
        name,
        step,
        first,
        Math.ceil(to / stepMillis[step]),
      ])
      const present = underWay.get(key)
      if (present !== undefined) return yield* present
      const of = { check: { agent_id, registration_id, check_id }, name, first, step, to }
      const all = Effect.gen(function* () {
        const own = yield* readSpans(numbers, of)
        const isPlaced = places.length > 0 && (name ?? DURATION.name) === DURATION.name
        const series = isPlaced ? yield* ofPlaces(numbers, places, { ...of, own }) : own
        return { step, series } satisfies NumbersAnswer
      })
      const end = Effect.sync(() => underWay.delete(key))
      const reading = yield* shared(Effect.ensuring(all, end))
      underWay.set(key, reading)
      return yield* reading
    }),
  }
}

const shownBounds = (reading: Reading | undefined) => {
  const { crit = null, max = null, min = null, warn = null } = reading === undefined ? {} : boundsOf(reading)
  return { warn, crit, min, max }
}

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
