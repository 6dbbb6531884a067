import { Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type { KnownSeries, SeriesRef } from "../../kernel/ports/NumberStorage.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import type { NumberMemory } from "./NumberMemory.ts"
import { nameKey, PART_KINDS, seriesKey } from "./NumberPart.ts"
import { readLast } from "./Numbers.ts"

interface LastNumber extends Pick<SeriesRef, "name" | "unit"> {
  readonly value: number
}

/** A series that a check no longer states has no last value: its others go on without it. */
const STATED_WITHIN = PART_KINDS.day.length
/** Other servers write as often: values of theirs are read again after that. */
const READ_AGAIN_AFTER = 300_000
const MICROS_PER_MILLI = 1_000n

interface Read {
  readonly newest: number
  readonly readAt: number
  readonly last: { readonly value: number; readonly at: number } | undefined
}

/**
 * The last values of checks: those that this server measured as they are in its memory, others as they are stored. Each
 * check is read from the storage once, and again where its series may have grown.
 */
export const lastNumbers = (memory: NumberMemory["Service"]) => {
  const { numbers } = memory
  let read = new Map<string, Read>()
  let former = new Map<string, Read>()
  const fromStorage = Effect.fnUntraced(function* (
    check: CheckRef,
    series: ReturnType<typeof memory.lastOf>,
    now: number,
  ) {
    const lacking: Array<KnownSeries> = []
    for (const { last, newest, ref } of series) {
      if (last !== undefined) continue
      const key = seriesKey(ref)
      const known = read.get(key) ?? former.get(key)
      const isOver = newest < now - PART_KINDS.day.length
      if (known?.newest === newest && (isOver || known.readAt > now - READ_AGAIN_AFTER)) read.set(key, known)
      else lacking.push({ ...ref, newest })
    }
    if (lacking.length === 0 || numbers === undefined) return
    const found = yield* readLast(numbers, check, lacking)
    for (const one of lacking)
      read.set(seriesKey(one), { newest: one.newest, readAt: now, last: found.get(nameKey(one)) })
  })
  const shown = (series: ReturnType<typeof memory.lastOf>, measuredAt: Instant.Instant) => {
    const earliest = Number(measuredAt / MICROS_PER_MILLI) - STATED_WITHIN
    const all: Array<LastNumber> = []
    for (const { last, ref } of series) {
      const known = last ?? read.get(seriesKey(ref))?.last
      if (known !== undefined && known.at >= earliest)
        all.push({ name: ref.name, unit: ref.unit, value: known.value })
    }
    return all
  }
  return {
    /** Before the checks of one answer: forgets those that the last two had not. */
    begin: Effect.suspend(() => {
      former = read
      read = new Map()
      memory.take()
      return numbers === undefined || memory.isKnown() ? Effect.void : memory.load(numbers)
    }),
    /** The last values of a check's series; without an effect where all are in memory, as most are. */
    of: (
      check: CheckRef,
      measuredAt: Instant.Instant,
    ): ReadonlyArray<LastNumber> | Effect.Effect<ReadonlyArray<LastNumber>, StorageError> => {
      const series = memory.lastOf(check)
      return series.every(({ last }) => last !== undefined)
        ? shown(series, measuredAt)
        : Effect.flatMap(Instant.now, (now) =>
            Effect.map(fromStorage(check, series, Instant.toMillis(now)), () => shown(series, measuredAt)),
          )
    },
  }
}
