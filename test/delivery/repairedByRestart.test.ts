import { assert, it } from "@effect/vitest"
import * as HmacLinkSigner from "@tocsin/adapter-crypto/HmacLinkSigner"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Redacted, Result } from "effect"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { refused } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const withUrl = (url_env: string) =>
  Result.getOrThrow(readPolicy({ receivers: { messenger: { kind: "messenger", url_env } } }, []))

it.effect("a receiver whose entry differs after a restart gets what it refused", () =>
  Effect.gen(function* () {
    const service = yield* openService({ notifiers: ["messenger"], deadAfter: Duration.days(300) })
    const openWith = (name: string, url: string) =>
      service.open(name, { keepsHouse: true, reports: true, rules: { policy: withUrl(url) } })
    const attempts = service.passes("30 seconds").pipe(
      Effect.andThen(settled),
      Effect.map(() => service.receivers.attempts.length),
    )
    const first = yield* openWith("first", "FORMER")
    yield* enroll(first, AGENT)
    service.receivers.answerWith(refused)
    yield* Effect.orDie(report(first, criticalChecks(1)))
    assert.strictEqual(yield* attempts, 1)
    yield* first.close
    const second = yield* openWith("second", "FORMER")
    assert.strictEqual(yield* attempts, 1, "the entry is the same")
    yield* second.close
    yield* openWith("third", "PRESENT")
    assert.strictEqual(yield* attempts, 2, "the entry is another")
  }),
)

const KEY = Redacted.make("0".repeat(64))

it.effect(
  "a receiver whose secrets differ once their files are read again, or after a restart, gets what it refused",
  () =>
    Effect.gen(function* () {
      const service = yield* openService({ notifiers: ["messenger"], policy: withUrl("URL") })
      const { answerWith, attempts, marks } = service.receivers
      marks.set("messenger", "former")
      const open = (name: string) => service.open(name, { keepsHouse: true, reports: true })
      const passed = settled.pipe(Effect.andThen(service.passes("30 seconds")), Effect.andThen(settled))
      const process = yield* open("first")
      yield* enroll(process, AGENT)
      answerWith(refused)
      yield* Effect.orDie(report(process, criticalChecks(1)))
      yield* passed
      const readAgain = Effect.suspend(() => process.sendsTo("messenger")).pipe(Effect.andThen(passed))
      yield* readAgain
      assert.lengthOf(attempts, 1, "the secrets are the same")
      marks.set("messenger", "second")
      yield* readAgain
      assert.lengthOf(attempts, 2, "the secrets are others")
      yield* process.close
      const second = yield* open("second")
      yield* passed
      assert.lengthOf(attempts, 2, "the secrets are the same after a restart")
      marks.set("messenger", "third")
      yield* open("third")
      yield* passed
      assert.lengthOf(attempts, 3, "the secrets are others after a restart")
      yield* open("fourth")
      yield* passed
      assert.lengthOf(attempts, 4, "one with the former secrets runs, and may have made that attempt")
      yield* second.close
      yield* passed
      yield* open("fifth")
      yield* passed
      assert.lengthOf(attempts, 4, "all have the present secrets")
    }).pipe(Effect.provide(HmacLinkSigner.layer(KEY))),
)

it.effect(
  "without a link key too, secrets that differ once their files are read again bring what was refused",
  () =>
    Effect.gen(function* () {
      const service = yield* openService({ notifiers: ["messenger"], policy: withUrl("URL") })
      const { answerWith, attempts, marks } = service.receivers
      marks.set("messenger", "former")
      const process = yield* service.open("only", { keepsHouse: true, reports: true })
      yield* enroll(process, AGENT)
      answerWith(refused)
      yield* Effect.orDie(report(process, criticalChecks(1)))
      const passed = settled.pipe(Effect.andThen(service.passes("30 seconds")), Effect.andThen(settled))
      yield* passed
      for (const [mark, sent] of [
        ["former", 1],
        ["present", 2],
        ["present", 2],
      ] as const) {
        marks.set("messenger", mark)
        yield* process.sendsTo("messenger")
        yield* passed
        assert.lengthOf(attempts, sent, mark)
      }
    }),
)
