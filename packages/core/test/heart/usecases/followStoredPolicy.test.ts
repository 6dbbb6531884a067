import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Layer, Logger } from "effect"
import type { PolicyVersionRecord } from "../../../src/heart/model/PolicyVersionRecord.ts"
import { refusedHere } from "@tocsin/core/heart/notifications/Notifiers"
import { PolicySource } from "../../../src/heart/usecases/PolicySource.ts"
import { Storage } from "../../../src/kernel/ports/Storage.ts"
import { followStoredPolicy, invalidPolicy } from "../../../src/heart/usecases/followStoredPolicy.ts"
import { orderColumns } from "../../../src/lists/ListDefinitions.ts"

const versionOf = (version: number, text: string): PolicyVersionRecord => ({
  version,
  text,
  hash: text,
  applied_at: Instant.fromMicros(BigInt(version)),
  applied_by: "ann",
})

it.effect("a version that a process cannot read is refused once, and a later one is followed", () =>
  Effect.gen(function* () {
    const versions = [versionOf(1, "{}")]
    const [refused, replaced]: [Array<string>, Array<string>] = [[], []]
    const source = PolicySource.of({
      source: "stored",
      read: () => Effect.succeed({}),
      test: () => Effect.succeed(refusedHere("")),
      patch: (text) => Effect.succeed({ document: {}, issues: [], text }),
      edit: (text) => Effect.succeed({ document: {}, text }),
      follow: (text) =>
        text === "{}"
          ? Effect.succeed({ document: {}, outdated: [] })
          : Effect.fail([{ line: 1, message: "is unknown", path: text }]),
      notifiers: () => Effect.succeed({ made: new Map(), unavailable: new Map() }),
      unavailable: () => Effect.succeed(new Map()),
    })
    const storage = Layer.mock(Storage, {
      orderOf: orderColumns,
      policyVersions: (after, limit) =>
        Effect.sync(() =>
          versions
            .filter(({ version }) => version > after)
            .toReversed()
            .slice(0, limit),
        ),
    })
    const log = Logger.layer([Logger.make(({ logLevel }) => void refused.push(logLevel))])
    yield* Effect.gen(function* () {
      const { follow } = yield* followStoredPolicy(() => ({ notifiers: [], keepsNotifiers: false }), {
        begin: () => Effect.void,
        readSecrets: () => Effect.succeed({ marks: new Map(), open: () => new Map() }),
        replace: () => Effect.sync(() => void replaced.push("replaced")),
      })
      versions.push(versionOf(2, "newer"))
      yield* follow
      yield* follow
      assert.deepStrictEqual([refused, replaced], [["Error"], []])
      versions.push(versionOf(3, "{}"))
      yield* follow
      yield* follow
      assert.deepStrictEqual([refused, replaced], [["Error"], ["replaced"]])
    }).pipe(Effect.provideService(PolicySource, source), Effect.provide([storage, log]))
  }),
)

it("a policy of many problems is refused with the first, in a message as short as the API's", () => {
  const issues = Array.from({ length: 777 }, () => ({ path: "", line: 1, message: "is not valid YAML" }))
  const { message } = invalidPolicy(issues)
  assert.isAtMost(message.length, 1_000)
  assert.match(message, /^the policy is not valid: line 1: the policy is not valid YAML; .*; and \d+ more$/)
  const short = invalidPolicy(issues.slice(0, 2)).message
  assert.strictEqual(short.split("; ").length, 2)
})
