import { assert, it } from "@effect/vitest"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Result } from "effect"
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

it.effect("a receiver whose secrets differ once their files are read again gets what it refused", () =>
  Effect.gen(function* () {
    const service = yield* openService({ notifiers: ["messenger"], policy: withUrl("URL") })
    const { answerWith, attempts, marks } = service.receivers
    marks.set("messenger", "former")
    const process = yield* service.open("only", { keepsHouse: true })
    yield* enroll(process, AGENT)
    answerWith(refused)
    yield* Effect.orDie(report(process, criticalChecks(1)))
    yield* settled
    const readAgain = Effect.suspend(() => process.sendsTo("messenger")).pipe(
      Effect.andThen(settled),
      Effect.andThen(service.passes("30 seconds")),
      Effect.andThen(settled),
    )
    yield* readAgain
    assert.lengthOf(attempts, 1)
    marks.set("messenger", "present")
    yield* readAgain
    assert.lengthOf(attempts, 2)
  }),
)
