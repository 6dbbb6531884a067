import { createHash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { qrCode } from "../../../src/features/signIn/qrCode.ts"

it("QR codes of all lengths are as the library uqr 0.1.3 draws them at level L with mask 0", () => {
  const hash = createHash("sha256")
  const sizes = new Set<number>()
  for (let length = 1; length <= 271; length++) {
    const squares = qrCode("https://tocsin.example.org/#/invitation/".repeat(8).slice(0, length)) ?? []
    sizes.add(squares.length)
    hash.update(squares.map((row) => row.map(Number).join("")).join("\n"))
  }
  assert.deepStrictEqual(Array.from(sizes), [21, 25, 29, 33, 37, 41, 45, 49, 53, 57])
  assert.strictEqual(hash.digest("hex"), "6b7617023780df950ed1c885ce9271b98e0925bcc8311cf67e4e33b2e7dc804b")
  assert.isUndefined(qrCode("a".repeat(272)))
})
