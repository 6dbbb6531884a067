import { assert, describe, it } from "@effect/vitest"
import { EventId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import { Ids } from "@tocsin/core/ports/Ids"
import { Effect, Schema } from "effect"
import * as RandomIds from "../src/RandomIds.ts"

const MANY = 20_000

describe("RandomIds", () => {
  it.effect("makes UUIDs of version 7 that never repeat, with the time they are given (RFC 9562, 5.7)", () =>
    Effect.gen(function* () {
      const { uuidV7 } = yield* Ids
      // The example of RFC 9562, A.6.
      const now = Instant.fromMillis(0x017f22e279b0)
      const ids = Array.from({ length: MANY }, () => uuidV7(now))
      assert.strictEqual(new Set(ids).size, MANY)
      assert.isTrue(ids.every(Schema.is(EventId)))
      assert.isTrue(ids.every((id) => id.startsWith("017f22e2-79b0-7")))
    }).pipe(Effect.provide(RandomIds.layer)),
  )
})
