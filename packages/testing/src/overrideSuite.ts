import { assert, describe, it } from "@effect/vitest"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NotifierName } from "@tocsin/contract/formats/Status"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import {
  createOverride,
  endOverride,
  MAX_UNENDED_OVERRIDES,
} from "@tocsin/core/features/onCall/overrideDecisions"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { expireAll } from "./expireAll.ts"
import { search } from "./observe.ts"
import { after } from "./outboxItems.ts"
import { atOnce, race } from "./race.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { START_MILLIS } from "./samples.ts"
import { uuidV7 } from "./SeededIds.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const idOf = (name: string) => OverrideId.make(uuidV7(BigInt(START_MILLIS), `override ${name}`))
const PRIMARY = NotifierName.make("primary")

const override = (name: string, from: number, until: number): RotaOverrideRecord => ({
  id: idOf(name),
  rota: PRIMARY,
  receivers: [NotifierName.make("bob")],
  starts_at: after(from),
  ends_at: after(until),
  note: undefined,
  created_by: "eva",
  created_at: after(0),
})

const put = (replica: Replica, overrides: ReadonlyArray<RotaOverrideRecord>) =>
  write(replica, [{ rows: { rota_override: overrides.map(({ id }) => id) } }], (unit) => {
    for (const one of overrides) unit.of("rota_override").put(one)
  })

/** Overrides of rotas. */
export const overrideSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("overrides", () => {
    it.effect("are found until they end, and removed as long after as incidents", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* openReplica(subject)
        yield* put(replica, [
          override("ended", -9, 0),
          override("active", 0, 1),
          override("long ago", -99, -50),
          override("scheduled", 1, 2),
          override("never begun", 3, 0),
        ])
        const unended = ["active", "scheduled"].map(idOf).toSorted()
        const endingAfter = (seconds: number) =>
          search(replica, "overridesEndingAfter", after(seconds), (found) =>
            found.map(({ id }) => id).toSorted(),
          )
        assert.strictEqual(yield* search(replica, "unended", "rota_override", (count) => count), 2)
        assert.deepStrictEqual(yield* endingAfter(0), unended)
        assert.strictEqual((yield* endingAfter(-99)).length, 5)
        yield* expireAll(replica.storage, { rule: "overrides", before: after(-9), limit: 2 })
        assert.strictEqual((yield* endingAfter(-99)).length, 4)
        yield* expireAll(replica.storage, { rule: "overrides", before: after(1), limit: 1 })
        assert.deepStrictEqual(yield* endingAfter(-99), unended)
      }),
    )

    race(subject, { name: "at most a thousand overrides have not ended" }, (replica) =>
      Effect.gen(function* () {
        const now = yield* Instant.now
        const [starts_at, ends_at] = [now, Instant.fromMicros(now + 3_600_000_000n)]
        const lasting = (name: string) => ({ ...override(name, 0, 0), starts_at, ends_at })
        const names = Array.from({ length: MAX_UNENDED_OVERRIDES - 3 }, (_, n) => `${n}`)
        yield* put(replica(0), names.map(lasting))
        const create = (n: number) => {
          const { id, note, receivers, rota } = override(`more ${n}`, 0, 0)
          const asked = { id, note, receivers, rota, to: ends_at }
          return transact(replica(n).storage, createOverride(asked, signedBy("eva")))
        }
        const end = (n: number, rota: string) =>
          transact(replica(n).storage, endOverride(NotifierName.make(rota), idOf("0"), signedBy("eva")))
        const created = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], create, atOnce)
        assert.strictEqual(created.filter(Result.isSuccess).length, 3)
        assert.strictEqual(yield* end(1, "secondary"), 0)
        assert.strictEqual(yield* end(1, "primary"), 1)
        assert.strictEqual(yield* end(0, "primary"), 0)
        assert.isTrue(Result.isSuccess(yield* create(8)))
      }),
    )
  })
}
