import { assert, describe, it } from "@effect/vitest"
import { ApiFailure } from "../../src/api/ApiFailure.ts"
import { onEach } from "../../src/state/onEach.ts"
import { isRefusal } from "../../src/view/formFault.ts"

const names = Array.from({ length: 40 }, (_, place) => `w${place + 1}`)

const acting = (does: (name: string) => Promise<unknown>) =>
  onEach(names, { does, nameOf: (name) => name, noun: "watch", did: "Deleted" })

const failing = (code: string, status: number, message: string) =>
  Promise.reject(new ApiFailure(code, message, { status }))

describe("an act on each of 40 rows", () => {
  it("says how many it was done to", async () => {
    assert.deepStrictEqual(await acting(() => Promise.resolve({ count: 1 })), {
      text: "Deleted 40 watches",
      left: [],
      failure: undefined,
    })
  })

  it("of which three fail, says which and why, and leaves these", async () => {
    const { failure, left } = await acting((name) =>
      name === "w3" || name === "w7"
        ? failing("conflict", 409, "the policy has it")
        : name === "w9"
          ? failing("internal", 500, "a fault")
          : Promise.resolve(),
    )
    assert.deepStrictEqual(left, ["w3", "w7", "w9"])
    assert.isTrue(isRefusal(failure))
    assert.strictEqual(
      failure?.message,
      "Deleted 37 of 40 watches; still selected: w3, w7 (the policy has it); w9 (a fault)",
    )
    assert.strictEqual(failure?.code, "conflict")
  })

  it("takes those that another person deleted meanwhile, or that ended, for what they are", async () => {
    const done = await acting((name) =>
      name === "w1"
        ? failing("not_found", 404, "no such watch")
        : Promise.resolve(name === "w2" ? { count: 0 } : name === "w3" ? "had ended" : undefined),
    )
    assert.strictEqual(done.text, "Deleted 37 watches; left out w1, w2 (gone already); w3 (had ended)")
    assert.deepStrictEqual([done.left, done.failure], [[], undefined])
  })

  it("stops where the server is not reached, with all others left", async () => {
    let calls = 0
    const { failure, left } = await acting(() =>
      (calls += 1) < 39 ? Promise.resolve() : failing("connection", 0, "the server was not reached"),
    )
    assert.strictEqual(calls, 39)
    assert.deepStrictEqual(left, ["w39", "w40"])
    assert.strictEqual(
      failure?.message,
      "Deleted 38 of 40 watches; still selected: w39, w40 (the server was not reached)",
    )
  })
})
