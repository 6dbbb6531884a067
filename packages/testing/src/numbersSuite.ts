import { assert, describe, it } from "@effect/vitest"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import { partKinds, PART_KINDS, placesOf } from "@tocsin/core/features/numbers/NumberPart"
import { roundSpans } from "@tocsin/core/features/numbers/packSpans"
import { merge, spanOf } from "@tocsin/core/features/numbers/Span"
import type {
  NumberStorage,
  NumberPart,
  WrittenPart,
  Span,
  Spans,
} from "@tocsin/core/kernel/ports/NumberStorage"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import * as fc from "fast-check"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { agentRecord, checkRecord, write } from "./records.ts"
import { newPlace, openReplica, type Replica } from "./Replica.ts"
import { START_MILLIS } from "./samples.ts"
import { because, type StorageUnderTest } from "./StorageUnderTest.ts"

export const DAY = PART_KINDS.day.length
export const FIRST_DAY = Math.floor(START_MILLIS / DAY) * DAY
export const agent = agentRecord("a")
export const checks = ["cpu", "disk"].map((check) => checkRecord(agent, check))
export const SERVERS = ["00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"]

const span: fc.Arbitrary<Span> = fc
  .array(fc.oneof(fc.integer(), fc.float({ noNaN: true, noDefaultInfinity: true })), {
    minLength: 1,
    maxLength: 4,
  })
  .map(([first = 0, ...others]) =>
    // A moment that all storages keep alike.
    others.reduce((whole, value) => merge(whole, spanOf(value, 1)) ?? whole, spanOf(first, 0)),
  )

const spansOf = (places: number): fc.Arbitrary<Spans> =>
  fc
    .tuple(
      fc.integer({ min: 0, max: places - 1 }),
      fc.array(fc.option(span, { nil: undefined }), { maxLength: places - 1 }),
      span,
    )
    .map(([start, some, last]) => {
      const before: ReadonlyArray<Span | undefined> = Array.from({ length: start }, () => undefined)
      return [...[...before, ...some].slice(0, places - 1), last]
    })

const part: fc.Arbitrary<WrittenPart> = fc
  .record({
    check: fc.constantFrom(...checks),
    name: fc.constantFrom("duration", "größe", "a/b c"),
    unit: fc.constantFrom("", "s"),
    kind: fc.constantFrom("hour" as const, "hour" as const, "late" as const),
    // Two days of hours.
    at: fc.integer({ min: 0, max: 47 }),
  })
  .chain(({ at, check: { agent_id, check_id, registration_id }, kind, name, unit }) => {
    const { length } = PART_KINDS[kind]
    const start = FIRST_DAY + Math.floor((at * PART_KINDS.hour.length) / length) * length
    return spansOf(placesOf(kind)).map((spans) => ({
      agent_id,
      registration_id,
      check_id,
      name,
      unit,
      kind,
      start,
      since: FIRST_DAY,
      spans,
    }))
  })

const server = fc.constantFrom(...SERVERS)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("write" as const),
      server,
      parts: fc.array(part, { maxLength: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("expire" as const),
      kind: fc.constantFrom(...partKinds),
      before: fc.integer({ min: 0, max: 48 }),
    }),
  },
)

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

const keyOf = ({ check_id, kind, name, start, unit }: NumberPart): string =>
  JSON.stringify([check_id, name, unit, kind, start])

/** Parts by server and key: what a storage must have after some steps. */
const played = (steps: ReadonlyArray<Step>): ReadonlyMap<string, NumberPart> => {
  const parts = new Map<string, NumberPart>()
  for (const one of steps) {
    if (one.does === "expire") {
      const before = FIRST_DAY + one.before * PART_KINDS.hour.length
      for (const [key, { kind, start }] of parts) if (kind === one.kind && start < before) parts.delete(key)
    } else
      for (const written of one.parts) {
        parts.set(`${one.server}${keyOf(written)}`, written)
        if (written.kind !== "hour") continue
        const start = Math.floor(written.start / DAY) * DAY
        const place = (written.start - start) / PART_KINDS.hour.length
        const day = { ...written, kind: "day" as const, start }
        const stored = parts.get(`${one.server}${keyOf(day)}`)?.spans ?? []
        const spans = Array.from({ length: Math.max(stored.length, place + 1) }, (_, n) => stored[n])
        const hour = written.spans.reduce<Span | undefined>(merge, undefined)
        const latest = written.spans.findLast((one) => one !== undefined)
        spans[place] = roundSpans([hour && latest && { ...hour, last: latest.last }])[0]
        parts.set(`${one.server}${keyOf(day)}`, { ...day, spans })
      }
  }
  return parts
}

/** The last of equal keys, as in two writes. */
const lastOf = (parts: ReadonlyArray<WrittenPart>): Array<WrittenPart> =>
  Array.from(new Map(parts.map((written) => [keyOf(written), written])).values())

export const numbersOf = ({ storage }: Replica): NumberStorage<StorageError> =>
  storage.numbers ?? assert.fail("no numbers")

/** The counts and the values of spans. */
const shown = ({ spans, ...of }: NumberPart): string =>
  `${keyOf({ ...of, spans })} ${spans
    .map(
      (one) =>
        one &&
        [one.count, ...[one.least, one.most, one.mean, one.last].map((value) => value.toPrecision(12))].join(
          " ",
        ),
    )
    .join(",")}`

export const allOf = Effect.fnUntraced(function* (replica: Replica, of: CheckRef, name?: string) {
  const { agent_id, check_id, registration_id } = of
  const found = yield* numbersOf(replica).parts({
    agent_id,
    registration_id,
    check_id,
    kinds: partKinds,
    from: FIRST_DAY,
    to: FIRST_DAY + 2 * DAY,
    name,
  })
  return found.map(shown).toSorted()
})

export const fill = (replica: Replica) =>
  write(
    replica,
    [
      { agents: [agent.agent_id] },
      { checks: { agent_id: agent.agent_id, check_ids: checks.map(({ check_id }) => check_id) } },
    ],
    (unit) => {
      unit.putAgent(agent)
      for (const check of checks) unit.checks.put(check)
    },
  )

const isKept = <Place>(subject: StorageUnderTest<Place>) =>
  forAll(fc.array(step, { maxLength: 12 }), { runs: 25 }, (steps) =>
    Effect.scoped(
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const numbers = numbersOf(replica)
        yield* fill(replica)
        for (const one of steps) {
          if (one.does === "expire")
            while (
              yield* numbers.expire({
                kind: one.kind,
                before: FIRST_DAY + one.before * PART_KINDS.hour.length,
                limit: 3,
              })
            );
          else {
            const parts = lastOf(one.parts)
            yield* numbers.write(one.server, parts)
            // A write that is repeated changes nothing.
            if (parts.length % 2 === 0) yield* numbers.write(one.server, parts)
          }
        }
        const expected = played(
          steps.map((one) => (one.does === "expire" ? one : { ...one, parts: lastOf(one.parts) })),
        )
        for (const check of checks) {
          const all = Array.from(expected.values()).filter(({ check_id }) => check_id === check.check_id)
          assert.deepStrictEqual(yield* allOf(replica, check), all.map(shown).toSorted())
          assert.deepStrictEqual(
            yield* allOf(replica, check, "größe"),
            all
              .filter(({ name }) => name === "größe")
              .map(shown)
              .toSorted(),
          )
        }
        for (const of of SERVERS) {
          const own = Array.from(expected).flatMap(([key, one]) => (key.startsWith(of) ? [one] : []))
          const unwritten = { name: "none", unit: "", kind: "hour" as const, start: 0 }
          const [missing] = checks.map((check) => ({ ...check, ...unwritten }))
          assert.deepStrictEqual(
            (yield* numbers.own(of, [...own, ...(missing === undefined ? [] : [missing])]))
              .map(shown)
              .toSorted(),
            own.map(shown).toSorted(),
          )
        }
      }),
    ),
  )

const isShared = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const open = yield* newPlace(subject)
  const [here, there] = [yield* open, yield* open]
  yield* fill(here)
  const written = checks.flatMap(({ agent_id, check_id, registration_id }) =>
    Array.from({ length: 20 }, (_, n): WrittenPart => ({
      agent_id,
      registration_id,
      check_id,
      name: `n${n}`,
      unit: "",
      kind: "hour",
      start: FIRST_DAY,
      since: FIRST_DAY,
      spans: [spanOf(n, 0)],
    })),
  )
  yield* Effect.all(
    [
      numbersOf(here).write(SERVERS[0] ?? "", written),
      numbersOf(there).write(SERVERS[1] ?? "", written.toReversed()),
    ],
    { concurrency: "unbounded" },
  )
  // An hour and a day of each server.
  assert.strictEqual((yield* allOf(there, checks[0] ?? assert.fail())).length, 80)
})

/** The port `NumberStorage` (docs/rules.md#numbers), for storages that have it. */
export const numbersSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("numbers over time", () => {
    it.effect(
      "are kept as each server wrote them, with the days of its hours",
      () => isKept(subject),
      PROPERTY_TIMEOUT_MILLIS,
    )
    it.live.skipIf(subject.onlyOneClient !== undefined)(
      `are written by two servers at once${because(subject)}`,
      () => isShared(subject),
    )
  })
}
