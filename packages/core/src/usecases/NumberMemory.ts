import { Context, Effect, Layer, Semaphore } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import type { CheckRef } from "../model/CheckRecord.ts"
import { Ids } from "../ports/Ids.ts"
import type { NumberStorage } from "../ports/NumberStorage.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { type DuePart, Gathering } from "../numbers/Gathering.ts"
import type { Measured } from "../numbers/Measured.ts"
import type { SeriesBound } from "../numbers/NumberBounds.ts"
import { type NumberPart, partKey, type SeriesRef } from "../numbers/NumberPart.ts"

/** How many series are kept in all (SERVICE_NUMBERS_SERIES); 0 for no numbers. */
export const MostSeries = Context.Reference<number>("@tocsin/core/usecases/MostSeries", {
  defaultValue: () => 20_000,
})

/** Parts in one transaction: other work waits for it for some milliseconds. */
const PIECE = 200
/** Commands whose results wait for the storage at a start. More are not measured. */
const MOST_WAITING = 5_000

/** The numbers that this server has not yet written (docs/rules.md#numbers). */
export class NumberMemory extends Context.Service<NumberMemory>()("@tocsin/core/usecases/NumberMemory", {
  make: Effect.gen(function* () {
    const { numbers } = yield* Storage
    const most = yield* MostSeries
    const instruments = yield* CurrentInstruments
    const ids = yield* Ids
    const server = ids.uuidV7(yield* Instant.now)
    const refused = new Map<SeriesBound, SeriesRef>()
    const gathering = new Gathering(most, (bound, series) => {
      instruments.numbersRefused[bound].value += 1
      refused.set(bound, series)
    })
    const turn = yield* Semaphore.make(1)
    let waiting: Array<Measured> = []
    /** Whether what is stored is known, so that bounds are. */
    let isReady = false

    const take = (): void => {
      if (!isReady) return
      const measured = waiting
      waiting = []
      for (const one of measured) gathering.take(one)
    }
    /** Writes what waits, of one check if it is given. */
    const write = Effect.fnUntraced(function* (to: NumberStorage<StorageError>, of?: CheckRef) {
      take()
      const piece = Effect.gen(function* () {
        const due = gathering.due(PIECE, of)
        if (due.length > 0) yield* to.write(server, yield* complete(to, server, due))
        for (const part of due) part.settle()
        return due.length === PIECE
      })
      // A reader waits for one piece of a long write, not for its end.
      while (yield* turn.withPermit(piece));
    })
    return {
      /** Whether numbers are kept at all. */
      numbers: most === 0 ? undefined : numbers,
      write,
      /** Takes the results of a command. Those whose output is to be read wait, off its answer's path: then `true`. */
      add: (measured: ReadonlyArray<Measured>): boolean => {
        for (const one of measured) {
          const others = isReady && "events" in one ? gathering.takeDurations(one) : undefined
          if (others?.length === 0 || waiting.length >= MOST_WAITING) continue
          waiting.push(others === undefined ? one : { ...one, events: others })
          // Of a deleted check, nothing may wait: later results are taken before.
          if (!("events" in one)) take()
        }
        return waiting.length > 0
      },
      take,
      load: Effect.fnUntraced(function* (from: NumberStorage<StorageError>) {
        gathering.know(yield* from.series(), Instant.toMillis(yield* Instant.now))
        isReady = true
        take()
      }),
      /** Forgets what is written or lost, and the bound that a series exceeded. */
      forget: Effect.gen(function* () {
        const now = yield* Instant.now
        instruments.numbersLost.value += gathering.forget(Instant.toMillis(now))
        const complaints = Array.from(refused)
        refused.clear()
        return complaints
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(NumberMemory, NumberMemory.make)
}

/** Parts with what this server stored of them before, where that is not in its memory. */
const complete = Effect.fnUntraced(function* (
  from: NumberStorage<StorageError>,
  server: string,
  due: ReadonlyArray<DuePart>,
) {
  const partial = due.filter((part) => part.complete !== undefined)
  const stored = partial.length === 0 ? [] : yield* from.own(server, partial)
  const spansOf = new Map(stored.map((part) => [partKey(part), part.spans]))
  return due.map((part): NumberPart => ({
    ...part,
    spans: part.complete?.(spansOf.get(partKey(part)) ?? []) ?? part.spans,
  }))
})
