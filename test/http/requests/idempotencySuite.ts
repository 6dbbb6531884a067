import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { type Call, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const SILENCES = "/ops/v1/silences"
const silence = {
  matchers: [{ field: "check_id", op: "=", value: "disk" }],
  for: "2h",
  comment: "a new disk",
}

const act = (key: string, method: string, path: string, more: Call = {}) =>
  operate(method, path, { ...more, headers: { "idempotency-key": key } })
const silences = itemsOf(SILENCES)

/** Acts with an idempotency key (docs/rules.md#acting-once). */
export const idempotencySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("an equal request gets the first answer, whatever has happened since, and changes nothing", () =>
    Effect.gen(function* () {
      const first = yield* act("a", "POST", SILENCES, { json: silence })
      assert.strictEqual(first.status, 201, first.text)
      yield* operate("DELETE", `${SILENCES}/${Object(first.body).id}`)
      const again = yield* act("a", "POST", SILENCES, { body: JSON.stringify(silence, undefined, 2) })
      assert.deepStrictEqual([again.status, again.body], [first.status, first.body])
      assert.notStrictEqual(again.headers["x-request-id"], first.headers["x-request-id"])
      assert.strictEqual((yield* silences).length, 1)
      const created = yield* itemsOf("/ops/v1/audit?action=silence.created")
      assert.strictEqual(created.length, 1)
      const ended = yield* act("b", "DELETE", `${SILENCES}/${Object(first.body).id}`)
      assert.deepStrictEqual(ended.body, { count: 0 })
      assert.deepStrictEqual((yield* act("b", "DELETE", `${SILENCES}/${Object(first.body).id}`)).body, {
        count: 0,
      })
    }),
  )

  scenario("a refusal is repeated, and the key is refused for any other request", () =>
    Effect.gen(function* () {
      const unknown = `${SILENCES}/00000000-0000-7000-8000-000000000000`
      const refused = yield* act("a", "PATCH", unknown, { json: { comment: "longer" } })
      expectError(refused, 404, "not_found")
      const again = yield* act("a", "PATCH", unknown, { json: { comment: "longer" } })
      assert.strictEqual(Object(again.body).error.message, Object(refused.body).error.message)
      for (const other of [
        act("a", "PATCH", unknown, { json: { comment: "another" } }),
        act("a", "POST", SILENCES, { json: silence }),
        act("a", "POST", `${SILENCES}?dry_run=true`, { json: silence }),
        act("a", "DELETE", unknown),
      ])
        expectError(yield* other, 409, "conflict")
      assert.deepStrictEqual(yield* silences, [])
      // A body that cannot be read is no act.
      expectError(yield* act("b", "POST", SILENCES, { json: {} }), 400, "validation")
      assert.strictEqual((yield* act("b", "POST", SILENCES, { json: silence })).status, 201)
    }),
  )

  scenario("each operator has keys of their own, and a token that is shown once is shown again", () =>
    Effect.gen(function* () {
      const json = { name: "ann", role: "respond" }
      const first = yield* act("a", "POST", "/ops/v1/operators", { json })
      assert.strictEqual(first.status, 201, first.text)
      const again = yield* act("a", "POST", "/ops/v1/operators", { json })
      assert.deepStrictEqual(again.body, first.body)
      const { token } = Object(first.body)
      const byAnn = yield* call("POST", SILENCES, {
        token,
        json: silence,
        headers: { "idempotency-key": "a" },
      })
      assert.strictEqual(byAnn.status, 201, byAnn.text)
      assert.strictEqual(Object(byAnn.body).created_by, "ann")
    }),
  )

  scenario("of equal requests at the same time one acts, and all get its answer", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(
        Array.from({ length: 8 }),
        () => act("a", "POST", SILENCES, { json: silence }),
        { concurrency: "unbounded" },
      )
      for (const { body, status } of answers) assert.deepStrictEqual([status, body], [201, answers[0]?.body])
      assert.strictEqual((yield* silences).length, 1)
    }),
  )

  scenario("a key is kept for 24 hours, and must be visible text", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      yield* act("a", "POST", SILENCES, { json: silence })
      clock.advance("23 hours")
      yield* act("a", "POST", SILENCES, { json: silence })
      assert.strictEqual((yield* silences).length, 1)
      clock.advance("1 hours")
      assert.strictEqual((yield* act("a", "POST", SILENCES, { json: silence })).status, 201)
      assert.strictEqual((yield* silences).length, 2)
      for (const key of ["", "a b", "x".repeat(129)])
        expectError(yield* act(key, "POST", SILENCES, { json: silence }), 400, "validation")
    }),
  )
}
