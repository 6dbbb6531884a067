import { assert, describe, it } from "@effect/vitest"
import { secretCipher } from "@tocsin/adapter-crypto/AesSecretCipher"
import { SubscriptionId } from "@tocsin/contract/push/Push"
import type { AuditId } from "@tocsin/contract/audit/Audit"
import { findingBrowsers } from "@tocsin/core/features/push/findBrowsers"
import { PushService } from "@tocsin/core/features/push/PushService"
import { reachingBrowsers } from "@tocsin/core/features/push/reachingBrowsers"
import { sealAddress, sealKey } from "@tocsin/core/features/push/sealedPush"
import { establishKey, storeSubscription } from "@tocsin/core/features/push/subscriptionDecisions"
import { systemSignature } from "@tocsin/core/heart/audit/recordAudit"
import type { TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { Ids, newId } from "@tocsin/core/kernel/ports/Ids"
import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Redacted, Result } from "effect"
import { whileTimePasses } from "../service/Service.ts"
import { openTimeline } from "../service/Timeline.ts"

const TAKEN: TestReceipt = { status: 201, result: { outcome: "delivered" } }
const BUSY: TestReceipt = { status: 503, result: { outcome: "deferred", error: "busy" } }

const KEY = { public_key: "a key", private_key: Redacted.make("secret") }
const subject = { about: "test", lang: undefined } as const

/** Browsers of ann, and what push services do with each message: they answer in turn, and take it in the end. */
const openBrowsers = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const { process, service } = yield* openTimeline()
  const cipher = secretCipher(Redacted.make("5a".repeat(32)))
  const answers = new Map<string, Array<Effect.Effect<TestReceipt>>>()
  const rung: Array<string> = []
  const unread = new Set<unknown>()
  const push: PushService = {
    problem: () => undefined,
    newKey: () => KEY,
    keyProblem: () => undefined,
    hostOf: () => Result.succeed("push.example"),
    proofOf: () => "0".repeat(64),
    post: ({ endpoint }) => {
      const name = Redacted.value(endpoint)
      rung.push(name)
      return answers.get(name)?.shift() ?? Effect.succeed(TAKEN)
    },
  }
  const storage: Storage["Service"] = {
    ...process.storage,
    rows: (table, keys) =>
      keys.some((key) => unread.has(key))
        ? Effect.fail(new StorageError({ reason: "unavailable", message: "unreachable for a test" }))
        : process.storage.rows(table, keys),
  }
  const ids = names.map((_, n) => SubscriptionId.make(String(n).repeat(32)))
  yield* process.commits.transact(establishKey(sealKey(KEY, cipher)))
  for (const [n, id] of ids.entries()) {
    const row = { id, operator: "ann" }
    const text = Redacted.make(names[n] ?? "")
    const sealed = sealAddress(row, { endpoint: text, p256dh: text, auth: text }, cipher)
    const given = { ...row, name: names[n] ?? "", service: "push.example", session: undefined, ...sealed }
    const by = systemSignature(newId<AuditId>(service.ids))
    yield* process.commits.transact(storeSubscription(given, KEY.public_key, by))
  }
  const reaching = Effect.gen(function* () {
    const found = yield* findingBrowsers
    return yield* reachingBrowsers({ ...found, problemOf: () => Effect.succeed(undefined) })
  })
  const { attempt } = yield* reaching.pipe(
    Effect.provideService(Storage, storage),
    Effect.provideService(Commits, process.commits),
    Effect.provideService(Ids, service.ids),
    Effect.provideService(SecretCipher, cipher),
    Effect.provideService(PushService, push),
  )
  return {
    answers,
    attempt: Effect.map(whileTimePasses(attempt("ann", subject)), ({ result }) =>
      "error" in result && result.error !== undefined ? `${result.outcome}: ${result.error}` : result.outcome,
    ),
    faults: process.faults,
    /** From now on the row of a browser cannot be read. */
    loses: (name: string) => Effect.sync(() => void unread.add(ids[names.indexOf(name)])),
    rung,
  }
})

describe("a message to browsers", () => {
  it.effect("is taken although the storage cannot note it, so that none rings again", () =>
    Effect.gen(function* () {
      const { answers, attempt, faults, rung } = yield* openBrowsers("desk")
      const failing = Effect.sync(() => void (faults.isReadOnly = true))
      answers.set("desk", [Effect.as(failing, TAKEN)])
      assert.strictEqual(yield* attempt, "delivered")
      assert.deepStrictEqual(rung, ["desk"])
    }),
  )

  it.effect("is taken by one browser although the storage fails before another's", () =>
    Effect.gen(function* () {
      const { answers, attempt, loses, rung } = yield* openBrowsers("desk", "phone")
      answers.set("desk", [Effect.as(Effect.sleep("1 second"), TAKEN)])
      yield* loses("phone")
      assert.match(yield* attempt, /^delivered: phone: The storage failed/)
      assert.deepStrictEqual(rung, ["desk"])
    }),
  )

  it.effect("is taken by one browser although the storage fails before a repetition", () =>
    Effect.gen(function* () {
      const { answers, attempt, loses, rung } = yield* openBrowsers("desk", "phone")
      answers.set("phone", [Effect.as(loses("phone"), BUSY)])
      assert.match(yield* attempt, /^delivered: phone: its push service answered 503/)
      assert.sameMembers(rung, ["desk", "phone"])
    }),
  )

  it.effect("waits where another browser may still take it", () =>
    Effect.gen(function* () {
      const { answers, attempt, loses } = yield* openBrowsers("desk", "phone")
      answers.set("desk", [Effect.succeed({ status: 400, result: { outcome: "refused", error: "no" } })])
      yield* loses("phone")
      assert.match(yield* attempt, /^deferred/)
    }),
  )
})
