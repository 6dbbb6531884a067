import process from "node:process"
import { assert, it, vi } from "@effect/vitest"
import { Effect, Result } from "effect"
import { DEFAULT_SEND_TIMEOUT } from "../src/http/HttpPost.ts"
import { acceptedReceivers } from "../src/policyReceivers.ts"
import { testIds } from "./testIds.ts"

const VARIABLE = "TOCSIN_SECRET_OF_A_TEST"

it.effect(
  "the receivers of a policy that is refused are closed with that, those of others with their scope",
  () =>
    Effect.gen(function* () {
      process.env[VARIABLE] = "http://127.0.0.1:9/"
      const closed = vi.spyOn(AbortController.prototype, "abort")
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          delete process.env[VARIABLE]
          closed.mockRestore()
        }),
      )
      const receivers = { chat: { kind: "messenger", url_env: VARIABLE } } as const
      const posting = { denyPrivateTargets: false, timeout: DEFAULT_SEND_TIMEOUT }
      const openUnder = (accept: () => Result.Result<object, string>) =>
        Effect.result(acceptedReceivers({ receivers, accept }, posting))
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.isTrue(Result.isFailure(yield* openUnder(() => Result.fail("no"))))
          assert.strictEqual(closed.mock.calls.length, 1)
          assert.isTrue(Result.isSuccess(yield* openUnder(() => Result.succeed({}))))
          assert.strictEqual(closed.mock.calls.length, 1)
        }),
      )
      assert.strictEqual(closed.mock.calls.length, 2)
    }).pipe(Effect.provide(testIds)),
)
