import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { Effect, Layer, Redacted, Result } from "effect"
import type { ReceiverSecretsRecord } from "../../../src/features/receivers/ReceiverSecretsRecord.ts"
import type { OpenedSecrets } from "../../../src/heart/policy/namedSecrets.ts"
import { PolicySource } from "../../../src/heart/usecases/PolicySource.ts"
import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { Storage } from "../../../src/kernel/ports/Storage.ts"
import { namedSecretsReader } from "../../../src/features/receivers/Secrets.ts"
import { followStoredPolicy } from "../../../src/heart/usecases/followStoredPolicy.ts"
import { orderColumns } from "../../../src/lists/ListDefinitions.ts"

const CHAT = NotifierName.make("chat")

const rowOf = (token: string): ReceiverSecretsRecord => ({
  name: CHAT,
  keys: ["token"],
  ciphertext: JSON.stringify({ token }),
  key_id: "0a1b2c3d",
  changed_by: "ann",
  changed_at: Instant.fromMicros(0n),
})

it.effect("receivers are made again once the rows that the policy names have changed, and only then", () =>
  Effect.gen(function* () {
    const made: Array<string> = []
    let [texts, decryptions] = [0, 0]
    /** Encrypts nothing. */
    const cipher: SecretCipher = {
      keyIds: ["0a1b2c3d"],
      encrypt: (_, text) => Redacted.value(text),
      decrypt: (_, text) => ((decryptions += 1), { text: Redacted.make(text), isFormer: false }),
    }
    const note = (opened: OpenedSecrets) =>
      Result.match(opened.get(CHAT) ?? Result.fail("unread"), {
        onSuccess: ({ token }) => (token === undefined ? "" : Redacted.value(token)),
        onFailure: (reason) => reason.slice(0, 30),
      })
    const source = {
      source: "stored",
      read: () => Effect.succeed({}),
      follow: (text: string) =>
        Effect.sync(() => ((texts += 1), { document: JSON.parse(text), outdated: [] })),
      notifiers: (_: object, opened: OpenedSecrets) =>
        Effect.sync(() => {
          made.push(note(opened))
          return { made: new Map(), unavailable: new Map() }
        }),
      unavailable: () => Effect.succeed(new Map()),
    } as unknown as PolicySource
    const versions: Array<string> = []
    let elsewhere = [NotifierName.make("pager")]
    const receivers: Array<string> = []
    let rows: ReadonlyArray<ReceiverSecretsRecord> = []
    const storage = Layer.mock(Storage, {
      orderOf: orderColumns,
      policyVersions: (after) =>
        Effect.succeed(
          versions.slice(after).map((text, n) => ({
            version: after + n + 1,
            text,
            hash: text,
            applied_at: Instant.fromMicros(0n),
            applied_by: "ann",
          })),
        ),
      // The only table that is asked for.
      rows: (() => Effect.sync(() => rows)) as never,
    })
    yield* Effect.gen(function* () {
      const { follow, followedVersion } = yield* followStoredPolicy(
        () => ({ notifiers: [], keepsNotifiers: false, elsewhere }),
        {
          begin: () => Effect.void,
          readSecrets: namedSecretsReader(yield* Storage, yield* SecretCipher),
          replace: (policy) =>
            Effect.sync(() => void receivers.push(Array.from(policy.receivers.keys()).join())),
        },
      )
      yield* follow
      assert.deepStrictEqual([followedVersion(), made.length], [0, 0])
      versions.push(JSON.stringify({ receivers: { a: { kind: "messenger", secrets: CHAT } } }))
      yield* follow
      assert.deepStrictEqual([followedVersion(), made], [1, ["names chat, which is not store"]])
      for (const token of ["one", "one", "two"]) {
        rows = [rowOf(token)]
        yield* follow
        yield* follow
      }
      rows = []
      elsewhere = []
      yield* follow
      // They are made by the receivers that other servers give by then.
      assert.deepStrictEqual(receivers, ["pager,a", "pager,a", "pager,a", "a"])
      assert.deepStrictEqual(made.slice(1), ["one", "two", "names chat, which is not store"])
      // The policy is read once, and an unchanged row is decrypted once.
      assert.deepStrictEqual([texts, decryptions], [1, 2])
    }).pipe(
      Effect.provideService(PolicySource, source),
      Effect.provideService(SecretCipher, cipher),
      Effect.provide(storage),
    )
  }),
)
