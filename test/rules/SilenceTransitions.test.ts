import { assert, describe, it } from "@effect/vitest"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { createSilence, editSilence, expireSilence } from "@tocsin/core/features/silences/silenceDecisions"
import { silenceState, SilenceTransitions } from "@tocsin/core/heart/model/SilenceRecord"
import { expireAll } from "@tocsin/testing/expireAll"
import { forAll } from "@tocsin/testing/forAll"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { livesOf } from "./livesOf.ts"

const RULES = { longestSilence: Duration.days(30) }
const ID = SilenceId.make(uuidV7(0n, "silence"))
const EVA = signedBy("eva")
const few = fc.constantFrom(0, 1, 2, 5)

/** A step of one silence. Times are minutes. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), minutes: few }),
  fc.record({
    kind: fc.constantFrom("edit" as const, "expire" as const, "pass" as const, "retain" as const),
    minutes: few,
  }),
)

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const then = (kind: Step["kind"], minutes: Step["minutes"] = 0): Step => ({ kind, minutes })

/** Short lives in which every row of the table happens; a new silence lasts three minutes. */
const TOURS: ReadonlyArray<ReadonlyArray<Step>> = [
  [then("create"), then("edit", 2), then("pass", 5), then("retain")],
  [then("create"), then("expire"), then("retain")],
  [then("create", 5), then("edit", 5), then("expire"), then("retain")],
  [then("create", 1), then("pass", 2), then("pass", 5), then("retain")],
]

describe("a silence", () => {
  it.effect("moves as its table states, is refused everything else, and every row happens", () =>
    Effect.gen(function* () {
      const open = () => {
        const tables = new MemoryTables()
        const storage = MemoryStorage.make(tables)
        const state = Effect.map(Instant.now, (now) => {
          const silence = tables.keyed.silence.get(ID)
          return silence === undefined ? "absent" : silenceState(silence, now)
        })
        const act = Effect.fnUntraced(function* ({ kind, minutes }: Step) {
          const now = yield* Instant.now
          const inMinutes = (more: number) => Instant.plus(now, Duration.minutes(more))
          switch (kind) {
            case "create": {
              if (tables.keyed.silence.has(ID)) return false
              const request = { starts_at: inMinutes(minutes), for: Duration.minutes(3) }
              const silence = { id: ID, matchers: [], comment: "c", ...request }
              Result.getOrThrow(yield* transact(storage, createSilence(silence, RULES, EVA)))
              return true
            }
            case "edit": {
              const changes = { ends_at: inMinutes(minutes + 1), comment: `until ${minutes} of ${now}` }
              const { outcome } = yield* transact(storage, editSilence(ID, changes, RULES, EVA))
              return outcome === "edited"
            }
            case "expire":
              return (yield* transact(storage, expireSilence(ID, EVA))) === 1
            case "pass":
              yield* TestClock.adjust(Duration.minutes(minutes))
              return true
            case "retain":
              yield* expireAll(storage, { rule: "silences", before: now, limit: 100 })
              return true
          }
        })
        return { act, state }
      }
      const { missing, play } = livesOf<Step["kind"], Step>({
        table: SilenceTransitions,
        may: {
          create: ["created", "scheduled"],
          edit: ["edited"],
          expire: ["expired_by_hand"],
          pass: ["started", "ended"],
          retain: ["removed"],
        },
        open,
      })
      yield* Effect.forEach(TOURS, play)
      assert.deepStrictEqual(Array.from(missing), [])
      yield* forAll(fc.array(step, { maxLength: 25 }), { runs: 150 }, play)
    }),
  )

  it.effect("keeps its end when only its comment changes, also beyond a limit that was lowered", () =>
    Effect.gen(function* () {
      const storage = MemoryStorage.make(new MemoryTables())
      const silence = { id: ID, matchers: [], comment: "c", for: Duration.days(19) }
      const times = Result.getOrThrow(yield* transact(storage, createSilence(silence, RULES, EVA)))
      const edit = (changes: Parameters<typeof editSilence>[1]) =>
        transact(storage, editSilence(ID, changes, { longestSilence: Duration.days(7) }, EVA))
      const { outcome } = yield* edit({ comment: "d" })
      assert.strictEqual(outcome, "edited")
      assert.strictEqual((yield* edit({ ends_at: times.ends_at })).outcome, "invalid")
    }),
  )

  it.effect("lasts at most as long as it may from its start on, however late it is edited", () =>
    Effect.gen(function* () {
      const storage = MemoryStorage.make(new MemoryTables())
      const silence = { id: ID, matchers: [], comment: "c", for: Duration.days(19) }
      const { starts_at } = Result.getOrThrow(yield* transact(storage, createSilence(silence, RULES, EVA)))
      yield* TestClock.adjust("18 days")
      const end = Instant.plus(starts_at, RULES.longestSilence)
      const outcomeOf = (ends_at: Instant.Instant) =>
        Effect.map(transact(storage, editSilence(ID, { ends_at }, RULES, EVA)), ({ outcome }) => outcome)
      assert.strictEqual(yield* outcomeOf(Instant.plus(end, Duration.millis(1))), "invalid")
      assert.strictEqual(yield* outcomeOf(end), "edited")
    }),
  )
})
