import { assert, describe, it } from "@effect/vitest"
import { AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import * as Instant from "@tocsin/contract/formats/Instant"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { announcedMaintenance } from "@tocsin/core/features/publicPages/PublicPages"
import {
  createAnnouncement,
  endAnnouncement,
  updateAnnouncement,
} from "@tocsin/core/features/publicPages/announcementDecisions"
import {
  announcementState,
  AnnouncementTransitions,
} from "@tocsin/core/features/publicPages/AnnouncementRecord"
import { expireAll } from "@tocsin/testing/expireAll"
import { forAll } from "@tocsin/testing/forAll"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { livesOf } from "./livesOf.ts"

const ID = AnnouncementId.make(uuidV7(0n, "announcement"))
const EVA = signedBy("eva")

const kind = fc.constantFrom("create", "endless", "update", "end", "pass", "retain")
const step = fc.record({ kind, minutes: fc.constantFrom<number>(0, 1, 2, 5) })
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const then = (kind: Step["kind"], minutes = 0): Step => ({ kind, minutes })

/** Short lives in which every row of the table happens; a new announcement lasts three minutes, or has no end. */
const TOURS: ReadonlyArray<ReadonlyArray<Step>> = [
  [then("create"), then("update"), then("end"), then("retain")],
  [then("create", 5), then("update"), then("end"), then("retain")],
  [then("create", 1), then("pass", 2), then("pass", 5), then("retain")],
  [then("endless"), then("pass", 5), then("retain"), then("end")],
]

const openLife = () => {
  const tables = new MemoryTables()
  const storage = MemoryStorage.make(tables)
  const stored = () => tables.keyed.announcement.get(ID)
  const inMinutes = (minutes: number) =>
    Effect.map(Instant.now, (now) => Instant.plus(now, Duration.minutes(minutes)))
  const create = Effect.fnUntraced(function* (from: number, to: number | undefined) {
    const starts_at = yield* inMinutes(from)
    const ends_at = to === undefined ? undefined : yield* inMinutes(to)
    const what = { kind: "maintenance", title: "Disks", text: "We swap disks.", lines: ["api"] } as const
    const given = { id: ID, page: "public", ...what, starts_at, ends_at }
    return yield* transact(storage, createAnnouncement(given, EVA))
  })
  const state = Effect.map(Instant.now, (now) => {
    const announcement = stored()
    return announcement === undefined ? "absent" : announcementState(announcement, now)
  })
  const act = Effect.fnUntraced(function* ({ kind, minutes }: Step) {
    switch (kind) {
      case "create":
      case "endless":
        if (stored() !== undefined) return false
        Result.getOrThrow(yield* create(minutes, kind === "endless" ? undefined : minutes + 3))
        return true
      case "update": {
        const before = stored()
        const updated = yield* transact(storage, updateAnnouncement(ID, `After ${minutes}`, EVA))
        if (typeof updated === "string") {
          assert.strictEqual(stored(), before)
          return false
        }
        // All that was written stays as it is.
        assert.deepStrictEqual({ ...updated, updates: updated.updates.slice(0, -1) }, before)
        return true
      }
      case "end":
        return (yield* transact(storage, endAnnouncement(ID, EVA))) === 1
      case "pass":
        yield* TestClock.adjust(Duration.minutes(minutes))
        return true
      case "retain":
        yield* expireAll(storage, { rule: "announcements", before: yield* Instant.now, limit: 100 })
        return true
    }
  })
  const isMaintained = Effect.map(Instant.now, (now) => {
    const announcement = stored()
    return announcement !== undefined && announcedMaintenance([announcement], now).has("api")
  })
  return { act, create, isMaintained, state }
}

describe("an announcement", () => {
  it.effect("moves as its table states, is refused everything else, and every row happens", () =>
    Effect.gen(function* () {
      const open = () => {
        const life = openLife()
        const act = Effect.fnUntraced(function* (one: Step) {
          const done = yield* life.act(one)
          // Its lines are in maintenance while it is open, and at no other time.
          assert.strictEqual(yield* life.isMaintained, (yield* life.state) === "open")
          return done
        })
        return { ...life, act }
      }
      const { missing, play } = livesOf<Step["kind"], Step>({
        table: AnnouncementTransitions,
        may: {
          create: ["created", "scheduled"],
          endless: ["created", "scheduled"],
          update: ["updated"],
          end: ["ended_by_hand"],
          pass: ["started", "ended"],
          retain: ["removed"],
        },
        open,
      })
      yield* Effect.forEach(TOURS, play)
      assert.deepStrictEqual(Array.from(missing), [])
      yield* forAll(fc.array(step, { maxLength: 20 }), { runs: 60 }, play)
    }),
  )

  it.effect("has 40,000 characters with its updates at most", () =>
    Effect.gen(function* () {
      const storage = MemoryStorage.make(new MemoryTables())
      const given = { id: ID, page: "public", kind: "notice", title: "Long", lines: [] } as const
      const text = "x".repeat(4_000)
      const times = { starts_at: undefined, ends_at: undefined }
      Result.getOrThrow(yield* transact(storage, createAnnouncement({ ...given, ...times, text }, EVA)))
      const update = (added: string) => transact(storage, updateAnnouncement(ID, added, EVA))
      for (let n = 0; n < 9; n += 1) assert.notStrictEqual(yield* update(text), "full")
      assert.strictEqual(yield* update("x"), "full")
    }),
  )

  it.effect("may begin a minute ago, which is now, and must end after its begin", () =>
    Effect.gen(function* () {
      const refusal = (from: number, to: number | undefined) =>
        Effect.map(
          openLife().create(from, to),
          Result.match({
            onFailure: ({ message }) => message,
            onSuccess: ({ ends_at, starts_at }) =>
              ends_at === undefined ? "endless" : `${Instant.secondsBetween(starts_at, ends_at)} s`,
          }),
        )
      const END = "ends_at must be in the future, and after starts_at; or leave it out"
      assert.strictEqual(yield* refusal(-1, 1), "60 s")
      assert.strictEqual(yield* refusal(9_999_999, undefined), "endless")
      assert.strictEqual(
        yield* refusal(-1.1, 1),
        "starts_at must not be more than a minute in the past; leave it out to start now",
      )
      assert.strictEqual(yield* refusal(0, 0), END)
      assert.strictEqual(yield* refusal(2, 1), END)
    }),
  )
})
