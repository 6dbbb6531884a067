import { assert, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/decodeRequest"
import { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { makeLabelDigest } from "@tocsin/core/policy/labelDigest"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { hash } from "node:crypto"
import { enroll, heartbeat, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"

const [A, B] = [AgentId.make("a"), AgentId.make("b")]

it.effect(
  "a digest of labels changes with them and with hostnames, within five minutes, and not otherwise",
  () =>
    Effect.gen(function* () {
      const service = yield* openService()
      const process = yield* service.open("only")
      const { admission, ingest, storage } = process
      const digest = makeLabelDigest(storage, (text) => hash("sha256", text))
      const declare = (labels: object) => {
        const checks = [{ check_id: "disk", labels }]
        const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete: false }))
        return ingest.expectations(keyOf(A), { agent_id: A, request })
      }
      /** Whether the digest is another one after an act: five minutes later, and no sooner. */
      const changes = Effect.fnUntraced(function* (act: Effect.Effect<unknown, unknown>) {
        const before = yield* digest
        yield* Effect.orDie(act)
        yield* TestClock.adjust("4 minutes")
        assert.strictEqual(yield* digest, before)
        yield* TestClock.adjust("1 minute")
        return (yield* digest) !== before
      })
      yield* enroll(process, A, B)
      yield* report(process, [{ check: "disk", status: "ok" }], A)
      const rename = Effect.flatMap(Instant.now, (observed_at) =>
        ingest.heartbeat(keyOf(A), heartbeatOf(A, { observed_at, hostname: "other.example.org" })),
      )
      const acts: ReadonlyArray<
        readonly [name: string, act: Effect.Effect<unknown, unknown>, isChange: boolean]
      > = [
        ["nothing", Effect.void, false],
        ["an agent has labels", heartbeat(process, A, { team: "db" }), true],
        ["its labels are equal", heartbeat(process, A, { team: "db" }), false],
        ["they move to another agent", heartbeat(process, B, { team: "db" }), true],
        ["a check turns critical", report(process, [{ check: "disk", status: "critical" }], A), false],
        ["a check has labels", declare({ rack: "7" }), true],
        ["a check has equal labels", declare({ rack: "7" }), false],
        ["a check has others", declare({ rack: "8" }), true],
        ["an agent is renamed", rename, true],
        ["an agent leaves", admission.remove(B), true],
      ]
      for (const [name, act, isChange] of acts) assert.strictEqual(yield* changes(act), isChange, name)
    }),
)
