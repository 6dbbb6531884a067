import type { LookupAddress, LookupOptions } from "node:dns"
import { assert, describe, it } from "@effect/vitest"
import { checkedLookup } from "../../src/http/checkedLookup.ts"

const resolved: ReadonlyArray<LookupAddress> = [
  { address: "169.254.169.254", family: 4 },
  { address: "10.0.0.7", family: 4 },
  { address: "fe80::1%eth0", family: 6 },
  { address: "2606:4700:4700::1111", family: 6 },
]

/** What a socket is handed for a name that resolves to all of these. */
const handed = (options: LookupOptions, denyPrivateTargets: boolean) => {
  const calls: Array<ReadonlyArray<unknown>> = []
  const lookup = checkedLookup((_hostname, _options, callback) => callback(null, resolved), {
    denyPrivateTargets,
  })
  lookup("receiver.test", options, (...call) => calls.push(call))
  return calls
}

describe("a checked lookup", () => {
  it("hands out all allowed addresses, in their order, and no other", () => {
    assert.deepStrictEqual(handed({ all: true }, false), [[null, [resolved[1], resolved[3]]]])
    assert.deepStrictEqual(handed({ all: true }, true), [[null, [resolved[3]]]])
  })

  it("hands out the first of them where one is asked for", () => {
    assert.deepStrictEqual(handed({}, false), [[null, "10.0.0.7", 4]])
    assert.deepStrictEqual(handed({}, true), [[null, "2606:4700:4700::1111", 6]])
  })
})
