import { Effect, Schema } from "effect"
import { NumberHour } from "@tocsin/contract/export/Export"
import { AgentId, CheckId, type RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { ALL_AGENTS, eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type { OpenRows, PlacedRows } from "../../kernel/engine/lists/OpenRows.ts"
import type { NumberPart, NumberStorage } from "../../kernel/ports/NumberStorage.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import type { TimeSpan } from "../../kernel/ports/SettledReads.ts"
import type { NumberMemory } from "./NumberMemory.ts"
import { namedBy, nameKey, PART_KINDS, startOf } from "./NumberPart.ts"
import { shownHour, timeline } from "./readSpans.ts"

const DAY = PART_KINDS.day.length
const HOUR = PART_KINDS.hour.length
/** Parts that are read together, if they lie together so: each has 24 hours at most. */
const PIECE = 100

/**
 * The hours that one export reads: from one moment up to another, which is not later than the end of the hour in which
 * it began. Behind it, another reads the following ones. Within them: behind which series and hour of which check.
 */
const HourPlace = Schema.Tuple([
  Schema.Int,
  Schema.Int,
  Schema.Union([AgentId, Schema.Literal("")]),
  Schema.Union([CheckId, Schema.Literal("")]),
  Schema.Int,
  Schema.String,
  Schema.String,
])
type HourPlace = typeof HourPlace.Type

interface MeasuredCheck {
  readonly ref: CheckRef
  /** The start of its newest part. */
  newest: number
}

const isBehind = <Values extends ReadonlyArray<string | number>>(a: Values, b: Values): boolean => {
  const differs = a.findIndex((value, n) => value !== b[n])
  return differs >= 0 && (a[differs] ?? "") > (b[differs] ?? "")
}

/** The checks of present agents that have numbers, by their names. */
const measuredChecks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  numbers: NumberStorage<StorageError>,
) {
  const registrations = new Map<AgentId, RegistrationId>()
  yield* eachPage(storage, ALL_AGENTS, (rows) => {
    for (const { agent_id, registration_id } of rows) registrations.set(agent_id, registration_id)
  })
  const checks = new Map<string, MeasuredCheck>()
  for (const { agent_id, check_id, newest, registration_id } of yield* numbers.series()) {
    if (registrations.get(agent_id) !== registration_id) continue
    const name = `${agent_id}/${check_id}`
    const known = checks.get(name)
    if (known !== undefined) known.newest = Math.max(known.newest, newest)
    else checks.set(name, { ref: { agent_id, registration_id, check_id }, newest })
  }
  return Array.from(checks.values()).toSorted((a, b) =>
    isBehind([a.ref.agent_id, a.ref.check_id], [b.ref.agent_id, b.ref.check_id]) ? 1 : -1,
  )
})

const encode = Schema.encodeSync(NumberHour)

/** The hours in some parts of a check, in the order of time, then of names. */
const hoursIn = (parts: ReadonlyArray<NumberPart>) =>
  Array.from(Map.groupBy(parts, nameKey))
    .flatMap(([key, all]) =>
      Array.from(timeline(all, "1h"), ([at, span]) => ({ ...namedBy(key), at, ...shownHour(span) })),
    )
    .toSorted((a, b) => (isBehind([a.at, a.name, a.unit], [b.at, b.name, b.unit]) ? 1 : -1))

/** The first whole millisecond from a moment on. */
const millisFrom = (at: Instant.Instant): number => Math.ceil(Number(at) / 1_000)

const AT_END: PlacedRows = { rows: [], place: [], isEnd: true }

/** Hours of series, one check after the other, with what this server had not written. */
export const hourRows = (
  storage: Storage["Service"],
  memory: NumberMemory["Service"],
): OpenRows<HourPlace> => ({
  place: HourPlace,
  open: Effect.fnUntraced(function* (span: TimeSpan, begun: HourPlace | undefined) {
    const { numbers } = memory
    const from = begun?.[0] ?? millisFrom(span.from)
    // Hours of clocks that are ahead wait until they have begun.
    const next = startOf("hour", Instant.toMillis(yield* Instant.now)) + HOUR
    const isOver = begun === undefined || begun[1] === from
    const to = isOver ? Math.max(from, Math.min(millisFrom(span.to), next)) : begun[1]
    if (numbers === undefined) return Effect.succeed({ ...AT_END, place: [from, from, "", "", 0, "", ""] })
    // A storage that takes no writes has what was written before.
    yield* Effect.ignore(memory.write(numbers))
    const checks = yield* measuredChecks(storage, numbers)
    const [, , agent, check, ...behind] = begun ?? [from, to, "", "", from, "", ""]
    let index = checks.findIndex(({ ref }) => !isBehind([agent, check], [ref.agent_id, ref.check_id]))
    const [first] = checks.slice(index, index + 1)
    const isWithin = first?.ref.agent_id === agent && first.ref.check_id === check
    let at = isWithin ? behind[0] : from
    let many = 1
    const readPiece = Effect.fnUntraced(function* ({ ref, newest }: MeasuredCheck) {
      const start = Math.max(startOf("day", at), startOf("day", from))
      const end = Math.min(to, start + many * DAY)
      const parts = yield* numbers.parts({ ...ref, kinds: ["day", "late"], from: start, to: end })
      const { agent_id, check_id } = ref
      const isResumed = isWithin && check_id === check && agent_id === agent
      const rows = hoursIn(parts)
        .filter((hour) => hour.at >= at && hour.at < end)
        .filter((hour) => !isResumed || isBehind([hour.at, hour.name, hour.unit], behind))
        .map(({ at: hour, name, unit, ...values }) => {
          const row = encode({ agent_id, check_id, name, unit, at: Instant.fromMillis(hour), ...values })
          return [row, [from, to, agent_id, check_id, hour, name, unit]] as const
        })
      const fitting = Math.floor((many * PIECE) / Math.max(1, parts.length))
      many = Math.max(1, Math.min(fitting, 4 * many))
      at = end
      if (end >= to || end > newest + DAY) {
        index += 1
        at = from
        many = 1
      }
      return rows
    })
    return Effect.gen(function* (): Effect.fn.Return<PlacedRows, StorageError> {
      for (;;) {
        const measured = from < to && index >= 0 ? checks[index] : undefined
        if (measured === undefined) return { ...AT_END, place: [to, to, "", "", 0, "", ""] }
        const rows = yield* readPiece(measured)
        const [, place] = rows.at(-1) ?? []
        if (place !== undefined) return { rows, place, isEnd: false }
        yield* Effect.yieldNow
      }
    })
  }),
})
