import { Context, Effect, Layer, Semaphore } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import { Gathering } from "./Gathering.ts"
import type { NumberInput } from "../../kernel/model/NumberInput.ts"
import { patternOfName, type SeriesBound } from "./NumberBounds.ts"
import { partKey } from "./NumberPart.ts"
import type { NumberStorage, SeriesRef, WrittenPart } from "../../kernel/ports/NumberStorage.ts"
import type { DuePart } from "./PartMemory.ts"
import { counter } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics of numbers over time. */
export const numbersMetrics = {
  numbersRefused: counter(
    "tocsin_numbers_refused_total",
    "Numbers that were not kept, by the bound that their series exceeds: of a check, of an agent, or of all",
    ["bound"],
    ["check", "agent", "all"],
  ),
  numbersLost: counter(
    "tocsin_numbers_lost_total",
    "Numbers that were not written: for half an hour, before the server stopped, or for lack of room",
  ),
}

/** How many series are kept in all (SERVICE_NUMBERS_SERIES); 0 for no numbers. */
export const MostSeries = Context.Reference<number>("@tocsin/core/usecases/MostSeries", {
  defaultValue: () => 20_000,
})

/** Parts in one transaction: other work waits for it for some milliseconds. */
const PIECE = 200
/** Results that wait to be read, by their outputs and what each takes besides; at more, they are read at once. */
const MOST_CHARACTERS = 4_194_304
const EVENT_CHARACTERS = 500

const patternOf = (series: SeriesRef): SeriesRef => ({ ...series, name: patternOfName(series.name) })

type Complaint = readonly [bound: SeriesBound | "changing", series: SeriesRef]

/** Most names of a check with too many numbers may be one name that changes. */
const complaintOf = ([bound, series]: Complaint, gathering: Gathering): Complaint => {
  const pattern = patternOf(series)
  if (bound !== "check" || pattern.name === series.name) return [bound, series]
  const all = gathering.lastOf(series)
  const alike = all.filter(({ ref }) => patternOf(ref).name === pattern.name)
  return alike.length > all.length / 2 ? ["changing", pattern] : [bound, series]
}

/** The numbers that this server has not yet written (docs/rules.md#numbers). */
export class NumberMemory extends Context.Service<NumberMemory>()(
  "@tocsin/core/features/numbers/NumberMemory",
  {
    make: Effect.gen(function* () {
      const { numbers } = yield* Storage
      const most = yield* MostSeries
      const { numbersLost: lost, numbersRefused } = (yield* CurrentInstruments).of(numbersMetrics)
      const numbersLost = lost.of()
      const server = (yield* Ids).uuidV7(yield* Instant.now)
      const refused = new Map<SeriesBound | "changing", SeriesRef>()
      const gathering = new Gathering(most, (bound, series, values) => {
        numbersRefused[bound].value += values
        refused.set(bound, series)
      })
      const turn = yield* Semaphore.make(1)
      let waiting: Array<NumberInput> = []
      let characters = 0

      const take = (): void => {
        const measured = waiting
        waiting = []
        characters = 0
        for (const one of measured) gathering.take(one)
      }
      const load = Effect.fnUntraced(function* (from: NumberStorage<StorageError>) {
        gathering.know(yield* from.series(), Instant.toMillis(yield* Instant.now))
      })
      return {
        /** Whether numbers are kept at all. */
        numbers: most === 0 ? undefined : numbers,
        most,
        /** Writes what waits now, of one check if it is given. */
        write: Effect.fnUntraced(function* (to: NumberStorage<StorageError>, of?: CheckRef) {
          if (!gathering.isKnown) yield* load(to)
          take()
          const ended = gathering.takeEnded()
          for (const series of ended.slice(0, 1)) refused.set("changing", patternOf(series))
          if (ended.length > 0) yield* to.endSeries(ended)
          const parts = gathering.waiting(of)
          // A reader waits for one piece of a long write, not for its end.
          for (let first = 0; first < parts.length; first += PIECE)
            numbersLost.value += yield* turn.withPermit(
              Effect.suspend(() => writePiece(to, server, gathering.due(parts.slice(first, first + PIECE)))),
            )
        }),
        /** Takes the results of a command. Those whose output is to be read wait, off its answer's path: then `true`. */
        add: (measured: ReadonlyArray<NumberInput>): boolean => {
          for (const one of measured) {
            const events = "events" in one ? gathering.takeDurations(one) : undefined
            if (events?.length === 0) continue
            waiting.push(events === undefined ? one : { ...one, events })
            characters += (events ?? []).reduce(
              (sum, { output = "" }) => sum + output.length + EVENT_CHARACTERS,
              0,
            )
            // Of a deleted check, nothing may wait: later results are taken before.
            if (events === undefined || characters > MOST_CHARACTERS) take()
          }
          return waiting.length > 0
        },
        take,
        load,
        isKnown: () => gathering.isKnown,
        lastOf: (check: CheckRef) => gathering.lastOf(check),
        /** Whether what waits should be written soon. */
        isCrowded: () => gathering.isCrowded,
        /** Forgets what is written or lost, and the bound that a series exceeded. */
        forget: Effect.map(Instant.now, (now) => {
          numbersLost.value += gathering.forget(Instant.toMillis(now))
          const complaints = Array.from(refused, (one) => complaintOf(one, gathering))
          refused.clear()
          return complaints
        }),
        /** Counts what is not written as lost, at the end. Returns how many values that is. */
        abandon: Effect.sync(() => {
          take()
          const { unwritten } = gathering
          numbersLost.value += unwritten
          return unwritten
        }),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(NumberMemory, NumberMemory.make)
}

/** Returns how many values are lost with checks that were deleted: some may be of a new check of that name. */
const writePiece = Effect.fnUntraced(function* (
  to: NumberStorage<StorageError>,
  server: string,
  due: ReadonlyArray<DuePart>,
) {
  if (due.length === 0) return 0
  const written = yield* complete(to, server, due)
  const gone = new Set(yield* to.write(server, written))
  let lost = 0
  for (const [index, part] of written.entries()) {
    if (gone.has(part)) lost += due[index]?.drop() ?? 0
    else due[index]?.settle()
  }
  return lost
})

/** Parts with what this server stored of them before, where that is not in its memory. */
const complete = Effect.fnUntraced(function* (
  from: NumberStorage<StorageError>,
  server: string,
  due: ReadonlyArray<DuePart>,
) {
  const partial = due.filter((part) => part.complete !== undefined)
  const stored = partial.length === 0 ? [] : yield* from.own(server, partial)
  const spansOf = new Map(stored.map((part) => [partKey(part), part.spans]))
  return due.map((part): WrittenPart => ({
    ...part,
    spans: part.complete?.(spansOf.get(partKey(part)) ?? []) ?? part.spans,
  }))
})
