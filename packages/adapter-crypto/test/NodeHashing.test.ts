import { assert, describe, it } from "@effect/vitest"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { Effect, Redacted } from "effect"
import * as NodeHashing from "../src/NodeHashing.ts"

const hashing = (pepper?: string) =>
  Hashing.pipe(
    Effect.provide(NodeHashing.layer({ pepper: pepper === undefined ? undefined : Redacted.make(pepper) })),
  )

describe("NodeHashing", () => {
  it.effect("hashes a key by SHA-256 and shows 16 digits of it (FIPS 180-4, example of abc)", () =>
    Effect.gen(function* () {
      const { identify, sha256 } = yield* hashing()
      const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      const identity = identify(Redacted.make("abc"))
      assert.deepStrictEqual({ ...identity }, { key_hash: digest, key_fingerprint: "ba7816bf8f01cfea" })
      assert.strictEqual(sha256("abc"), digest)
    }),
  )

  it.effect(
    "hashes a key by HMAC where there is a pepper, which its print does not depend on (RFC 4231, case 2)",
    () =>
      Effect.gen(function* () {
        const key = Redacted.make("what do ya want for nothing?")
        const peppered = (yield* hashing("Jefe")).identify(key)
        const plain = (yield* hashing()).identify(key)
        assert.strictEqual(
          peppered.key_hash,
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        )
        assert.strictEqual(peppered.key_fingerprint, plain.key_fingerprint)
      }),
  )

  it.effect("distinguishes peppers, and none from any, without showing one", () =>
    Effect.gen(function* () {
      const checks = yield* Effect.forEach(["a", "b", undefined, "a"], (pepper) =>
        Effect.map(hashing(pepper), ({ pepperCheck }) => pepperCheck),
      )
      assert.strictEqual(new Set(checks).size, 3)
      assert.strictEqual(checks[0], checks[3])
    }),
  )
})
