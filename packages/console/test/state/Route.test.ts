import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { isSamePage } from "../../src/state/isSamePage.ts"
import { parseRoute, routeText } from "../../src/state/Route.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const text = fc.string({ minLength: 1, unit: anyCharacter })

describe("an address of the console", () => {
  it("keeps the page, its subject and every parameter, whatever they contain", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("incidents", "checks", "outbox"),
        fc.array(text, { maxLength: 2 }),
        fc.dictionary(
          text.filter((name) => name !== "__proto__"),
          text,
          { maxKeys: 4 },
        ),
        (page, subject, parameters) => {
          const read = parseRoute(routeText({ page, subject, parameters }))
          assert.deepStrictEqual(read, { page, subject, parameters: { ...parameters } })
        },
      ),
    )
  })

  it("is read whatever anyone typed", () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (typed) => parseRoute(typed).page !== ""))
  })

  it("is of the same page whatever its parameters", () => {
    const [list, filtered, other] = ["#/checks", "#/checks?filter=web", "#/checks/web-1/disk"].map(parseRoute)
    assert.isTrue(isSamePage(list ?? assert.fail(), filtered ?? assert.fail()))
    assert.isFalse(isSamePage(list ?? assert.fail(), other ?? assert.fail()))
  })
})
