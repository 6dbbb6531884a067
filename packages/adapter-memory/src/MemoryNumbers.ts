import {
  dayOf,
  dayWith,
  DELETION,
  DELETIONS_KEPT,
  foldedWith,
  foldParts,
  MOST_SERVERS,
  partKey,
  seriesKey,
} from "@tocsin/core/features/numbers/NumberPart"
import type { NumberStorage, NumberPart, PartRef, WrittenPart } from "@tocsin/core/kernel/ports/NumberStorage"
import { packSpans, unpackSpans } from "@tocsin/core/features/numbers/packSpans"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { MemoryTables } from "./MemoryTables.ts"

const ownKey = (server: string, part: PartRef): string => `${server}/${partKey(part)}`

/** Numbers over time in Maps, with the precision of other storages. */
export const memoryNumbers = ({
  checks,
  numberParts: parts,
  numberSeries: series,
}: MemoryTables): NumberStorage<StorageError> => {
  const hasCheck = ({ check_id, registration_id }: CheckRef) =>
    checks.get(registration_id)?.has(check_id) === true
  const isPresent = ({ since, ...part }: WrittenPart) => {
    const deletion = series.get(seriesKey({ ...part, name: DELETION, unit: "" }))
    return hasCheck(part) && (deletion === undefined || deletion.newest < since)
  }
  const put = (server: string, part: NumberPart): void => {
    const known = series.get(seriesKey(part))
    const { agent_id, check_id, name, registration_id, start, unit } = part
    const newest = Math.max(known?.newest ?? start, start)
    series.set(seriesKey(part), { agent_id, registration_id, check_id, name, unit, newest })
    parts.set(ownKey(server, part), { ...part, spans: unpackSpans(packSpans(part.spans)) })
  }
  return {
    ...endings(series, hasCheck),
    series: (of) =>
      Effect.sync(() =>
        Array.from(series.values()).filter(
          ({ check_id, name, registration_id }) =>
            name !== DELETION &&
            (of === undefined || (registration_id === of.registration_id && check_id === of.check_id)),
        ),
      ),
    own: (server, asked) => Effect.sync(() => asked.flatMap((part) => parts.get(ownKey(server, part)) ?? [])),
    write: (server, written) =>
      Effect.sync(() => {
        const gone = written.filter((part) => !isPresent(part))
        for (const part of written.filter(isPresent)) {
          put(server, part)
          if (part.kind !== "hour") continue
          const day = dayOf(part)
          put(server, { ...day, spans: dayWith(parts.get(ownKey(server, day))?.spans ?? [], part) })
        }
        return gone
      }),
    parts: ({ check_id, from, kinds, name, registration_id, to }) =>
      Effect.sync(() =>
        Array.from(parts.values()).filter(
          (part) =>
            part.registration_id === registration_id &&
            part.check_id === check_id &&
            kinds.includes(part.kind) &&
            part.start >= from &&
            part.start < to &&
            (name === undefined || part.name === name) &&
            series.has(seriesKey(part)),
        ),
      ),
    fold: ({ before, start }) =>
      Effect.sync(() => {
        const ofDay = Array.from(parts.values()).filter((part) => part.kind === "day" && part.start === start)
        for (const days of Map.groupBy(ofDay, partKey).values())
          if (days[0] !== undefined && days.length > MOST_SERVERS) foldAll(parts, days[0], before)
      }),
    expire: ({ before, kind, limit }) =>
      Effect.sync(() => {
        const expired = Array.from(parts).filter(([, part]) => part.kind === kind && part.start < before)
        for (const [key] of expired.slice(0, limit)) parts.delete(key)
        return expired.length >= limit
      }),
  }
}

/** Folds the parts of a day of one series, and those of its hours. */
const foldAll = (parts: MemoryTables["numberParts"], day: NumberPart, before: number): void => {
  for (const of of foldedWith(day.start, before)) {
    const ref = { ...day, ...of }
    const end = `/${partKey(ref)}`
    const stored = Array.from(parts).flatMap(([key, { spans }]) =>
      key.endsWith(end) ? [{ server: key.slice(0, -end.length), spans }] : [],
    )
    for (const { server, spans } of foldParts(of, stored, before)) {
      const kept = { ...ref, spans: unpackSpans(packSpans(spans)) }
      if (spans.some(Boolean)) parts.set(ownKey(server, ref), kept)
      else parts.delete(ownKey(server, ref))
    }
  }
}

/** How series end, but for those of a check that is deleted. */
const endings = (
  series: MemoryTables["numberSeries"],
  hasCheck: (check: CheckRef) => boolean,
): Pick<NumberStorage<StorageError>, "endSeries" | "expireSeries"> => ({
  endSeries: (ended) =>
    Effect.sync(() => {
      for (const one of ended) series.delete(seriesKey(one))
    }),
  expireSeries: ({ before, now }) =>
    Effect.sync(() => {
      for (const [key, one] of series) {
        const isDeletion = one.name === DELETION
        if (one.newest < (isDeletion ? now - DELETIONS_KEPT : before) || !(isDeletion || hasCheck(one)))
          series.delete(key)
        else if (one.newest > now) series.set(key, { ...one, newest: now })
      }
    }),
})
