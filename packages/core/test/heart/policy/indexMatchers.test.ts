import { describe, expect, it } from "@effect/vitest"
import { compileMatchers, type MatchedFacts, type Matcher } from "@tocsin/contract/labels/Matcher"
import * as fc from "fast-check"
import { indexMatchers } from "../../../src/heart/policy/indexMatchers.ts"

const value = fc.constantFrom("", "a", "b", "__proto__")
const matcher: fc.Arbitrary<Matcher> = fc.record({
  field: fc.constantFrom<Matcher["field"]>("agent_id", "check_id", "label:a", "label:__proto__"),
  op: fc.constantFrom<Matcher["op"]>("=", "=", "!=", "glob"),
  value: fc.oneof(value, fc.constantFrom("*", "a*", "?")),
})
const lists = fc.array(fc.array(matcher, { maxLength: 4 }), { maxLength: 12 })
const facts = fc.record(
  { agent_id: value, check_id: value, labels: fc.dictionary(fc.constantFrom("a", "__proto__"), value) },
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<MatchedFacts>>

describe("an index of matchers", () => {
  it("finds exactly the lists whose matchers all hold", () => {
    fc.assert(
      fc.property(lists, fc.array(facts, { minLength: 1, maxLength: 4 }), (given, members) => {
        const find = indexMatchers(given)
        for (const one of members) {
          const wanted = given.flatMap((list, n) => (compileMatchers(list)(one) ? [n] : []))
          expect(find(one).toSorted((a, b) => a - b)).toEqual(wanted)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
