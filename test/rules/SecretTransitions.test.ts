import { assert, describe, it } from "@effect/vitest"
import { secretCipher } from "@tocsin/adapter-crypto/AesSecretCipher"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { SecretTransitions } from "@tocsin/core/features/receivers/ReceiverSecretsRecord"
import { encryptSecrets, openRow, openSecrets } from "@tocsin/core/features/receivers/openSecrets"
import { removeSecrets, storeSecrets } from "@tocsin/core/features/receivers/secretDecisions"
import { sealAgain } from "@tocsin/core/kernel/unitOfWork/sealAgain"
import { forAll } from "@tocsin/testing/forAll"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Effect, Redacted, Result } from "effect"
import * as fc from "fast-check"

const CHAT = NotifierName.make("chat")
const EVA = signedBy("eva")
const KEYS = ["0a", "b1", "c2"].map((digits) => digits.repeat(32))

type Step =
  | { readonly kind: "store" | "encrypt" | "remove" }
  | { readonly kind: "restart"; readonly first: number; readonly second: number | undefined }

const key = fc.nat({ max: KEYS.length - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom({ kind: "store" } as const, { kind: "encrypt" } as const, { kind: "remove" } as const),
  fc.record({
    kind: fc.constant("restart" as const),
    first: key,
    second: fc.option(key, { nil: undefined }),
  }),
)
const restart = (first: number, second?: number): Step => ({ kind: "restart", first, second })
const [store, encrypt, remove] = (["store", "encrypt", "remove"] as const).map((kind): Step => ({ kind }))

/** Short lives in which every row of the table happens. */
const TOURS = [
  [store, store, restart(1, 0), store, restart(2, 1), encrypt, restart(0), restart(2), remove],
  [store, restart(1, 0), restart(2), restart(1, 0), remove],
  [store, restart(1), store, restart(0), remove],
  [store, restart(1, 0), restart(0)],
] as ReadonlyArray<ReadonlyArray<Step>>

/** The model: what was stored last, and by which key. */
interface Row {
  readonly value: string
  readonly by: number
}

const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, happened: Set<unknown>) {
  const tables = new MemoryTables()
  const storage = MemoryStorage.make(tables)
  let keys: readonly [first: number, second: number | undefined] = [0, undefined]
  let model: Row | undefined
  let cipher = secretCipher(Redacted.make(KEYS[0] ?? ""))
  const row = () => tables.keyed.receiver_secrets.get(CHAT)
  const modelState = () => {
    if (model === undefined) return "absent"
    return model.by === keys[0] ? "readable" : model.by === keys[1] ? "former" : "unreadable"
  }
  for (const [n, one] of steps.entries()) {
    const from = modelState()
    let triggers: ReadonlyArray<string> = []
    switch (one.kind) {
      case "store": {
        const value = `value ${n}`
        const encrypted = encryptSecrets(CHAT, { token: Redacted.make(value) }, cipher)
        assert.isDefined(yield* transact(storage, storeSecrets(encrypted, EVA)))
        model = { value, by: keys[0] }
        triggers = ["stored"]
        break
      }
      case "encrypt": {
        const stored = row()
        const { state, values } = openRow(stored, cipher)
        if (stored !== undefined && state === "former" && values !== undefined) {
          yield* transact(
            storage,
            sealAgain("receiver_secrets", CHAT, stored, encryptSecrets(CHAT, values, cipher)),
          )
          model = { value: model?.value ?? "", by: keys[0] }
          triggers = ["encrypted"]
        }
        break
      }
      case "remove":
        if ((yield* transact(storage, removeSecrets(CHAT, 0, EVA))) === 1) triggers = ["removed"]
        model = undefined
        break
      case "restart":
        keys = [one.first, one.second === one.first ? undefined : one.second]
        cipher = secretCipher(Redacted.make(keys.flatMap((k) => (k === undefined ? [] : [KEYS[k]])).join()))
        triggers = ["key_replaced", "key_lost", "key_found", "key_added"]
    }
    const to = modelState()
    const moved = SecretTransitions.filter(
      (each) => each.from === from && each.to === to && triggers.includes(each.trigger),
    )
    if (from !== to || triggers.includes("stored"))
      assert.strictEqual(moved.length, 1, `${one.kind}: ${from} to ${to}`)
    for (const each of moved) happened.add(each)
    // The row as the service sees it, and a receiver that names it.
    const opened = openRow(row(), cipher)
    assert.strictEqual(opened.state, to)
    const named =
      openSecrets([CHAT], [row() ?? []].flat(), cipher).get(CHAT) ?? assert.fail("it was not looked up")
    assert.strictEqual(Result.isSuccess(named), to === "readable" || to === "former")
    if (Result.isSuccess(named))
      assert.strictEqual(named.success.token && Redacted.value(named.success.token), model?.value)
  }
})

describe("stored secrets", () => {
  it.effect("move as their table states, whatever keys a server starts with, and every row happens", () =>
    Effect.gen(function* () {
      const happened = new Set<unknown>()
      for (const tour of TOURS) yield* play(tour, happened)
      assert.deepStrictEqual(
        SecretTransitions.filter((row) => !happened.has(row)),
        [],
      )
      yield* forAll(fc.array(step, { maxLength: 20 }), { runs: 40 }, (steps) => play(steps, happened))
    }),
  )
})
