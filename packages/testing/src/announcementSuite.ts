import { assert, describe, it } from "@effect/vitest"
import { AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  createAnnouncement,
  endAnnouncement,
  MAX_UNENDED_ANNOUNCEMENTS,
  MAX_UPDATES,
  updateAnnouncement,
} from "@tocsin/core/features/publicPages/announcementDecisions"
import { readAnnouncements } from "@tocsin/core/features/publicPages/PublicPages"
import type {
  AnnouncementRecord,
  AnnouncementState,
} from "@tocsin/core/features/publicPages/AnnouncementRecord"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { expireAll } from "./expireAll.ts"
import { rowOf } from "./observe.ts"
import { after } from "./outboxItems.ts"
import { atOnce, race } from "./race.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { START_MILLIS } from "./samples.ts"
import { uuidV7 } from "./SeededIds.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const idOf = (name: string) => AnnouncementId.make(uuidV7(BigInt(START_MILLIS), `announcement ${name}`))
const eva = () => signedBy("eva")

const announcement = (
  name: string,
  from: number,
  until: number | undefined,
  page = "public",
): AnnouncementRecord => ({
  id: idOf(name),
  page,
  kind: "incident",
  title: name,
  text: "We are looking into it.",
  lines: ["api"],
  starts_at: after(from),
  ends_at: until === undefined ? undefined : after(until),
  updates: [],
  created_by: "eva",
  created_at: after(from),
})

const put = (replica: Replica, rows: ReadonlyArray<AnnouncementRecord>) =>
  write(replica, [{ rows: { announcement: rows.map(({ id }) => id) } }], (unit) => {
    for (const one of rows) unit.of("announcement").put(one)
  })

const titles = (rows: ReadonlyArray<AnnouncementRecord>) => rows.map(({ title }) => title)

/** Announcements of public pages. */
export const announcementSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("announcements", () => {
    it.effect("are listed by page and state, read for their page, and removed once they ended", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* openReplica(subject)
        yield* put(replica, [
          announcement("ended", -9, 0),
          announcement("open", -5, 1),
          announcement("without an end", -99, undefined),
          announcement("long ago", -98, -50),
          announcement("scheduled", 1, 2),
          announcement("some day", 3, undefined),
          announcement("called off", 4, 0),
          announcement("elsewhere", -1, undefined, "intern"),
        ])
        const listed = (state?: AnnouncementState, page?: string) =>
          Effect.map(rowsOf(replica, "announcements", { state, page, at: after(0) }), titles)
        assert.deepStrictEqual(yield* listed("open"), ["elsewhere", "open", "without an end"])
        assert.deepStrictEqual(yield* listed("open", "public"), ["open", "without an end"])
        assert.deepStrictEqual(yield* listed("scheduled", "public"), ["some day", "scheduled"])
        assert.deepStrictEqual(yield* listed("scheduled", "intern"), [])
        assert.deepStrictEqual(yield* listed("ended"), ["called off", "ended", "long ago"])
        assert.lengthOf(yield* listed(undefined, "public"), 7)
        const read = Effect.map(readAnnouncements(replica.storage, "public"), titles)
        const ended = ["called off", "ended"].toSorted((a, b) => (idOf(a) < idOf(b) ? 1 : -1))
        const endless = ["without an end", "some day"].toSorted((a, b) => (idOf(a) < idOf(b) ? 1 : -1))
        assert.deepStrictEqual(yield* read, [...endless, "scheduled", "open", ...ended, "long ago"])
        yield* expireAll(replica.storage, { rule: "announcements", before: after(-9), limit: 2 })
        assert.notInclude(yield* read, "long ago")
        yield* expireAll(replica.storage, { rule: "announcements", before: after(1), limit: 1 })
        assert.deepStrictEqual(yield* read, [...endless, "scheduled", "open"])
      }),
    )

    race(
      subject,
      { name: "at most a hundred announcements have not ended, with a hundred updates each" },
      (replica) =>
        Effect.gen(function* () {
          const now = yield* Instant.now
          const lasting = (name: string) => ({ ...announcement(name, 0, undefined), starts_at: now })
          const names = Array.from({ length: MAX_UNENDED_ANNOUNCEMENTS - 3 }, (_, n) => `${n}`)
          yield* put(replica(0), names.map(lasting))
          const create = (n: number) => {
            const { created_at: _, created_by: __, updates: ___, ...asked } = lasting(`more ${n}`)
            return transact(replica(n).storage, createAnnouncement({ ...asked, starts_at: undefined }, eva()))
          }
          const end = (n: number) => transact(replica(n).storage, endAnnouncement(idOf("0"), eva()))
          const created = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], create, atOnce)
          assert.strictEqual(created.filter(Result.isSuccess).length, 3)
          const written = { at: 0, text: "More", by: "eva" }
          const updates = Array.from({ length: MAX_UPDATES - 3 }, () => written)
          yield* put(replica(0), [{ ...lasting("0"), updates }])
          const update = (n: number) =>
            transact(replica(n).storage, updateAnnouncement(idOf("0"), `More ${n}`, eva()))
          const updated = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], update, atOnce)
          assert.strictEqual(updated.filter((one) => one === "full").length, 5)
          const texts = (yield* rowOf(replica(1), "announcement", idOf("0")))?.updates ?? []
          assert.strictEqual(new Set(texts.slice(-3).map(({ text }) => text)).size, 3)
          assert.strictEqual(yield* end(1), 1)
          assert.strictEqual(yield* end(0), 0)
          assert.strictEqual(yield* update(0), "ended")
          assert.isTrue(Result.isSuccess(yield* create(8)))
        }),
    )
  })
}
