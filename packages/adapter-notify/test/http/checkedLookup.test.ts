import type { LookupAddress, LookupOptions } from "node:dns"
import { assert, describe, it } from "@effect/vitest"
import { resultOfFailure } from "../../src/http/receipts.ts"
import { checkedLookup, type ResolveName, sharedLookup, type TargetPolicy } from "../../src/http/Target.ts"

const resolved: ReadonlyArray<LookupAddress> = [
  { address: "169.254.169.254", family: 4 },
  { address: "10.0.0.7", family: 4 },
  { address: "fe80::1%eth0", family: 6 },
  { address: "2606:4700:4700::1111", family: 6 },
  { address: "64:ff9b::a9fe:a9fe%eth0", family: 6 },
]

/** The arguments that a socket receives for a name with all of these addresses. */
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

/** The result of an attempt whose name has these addresses. */
const saidOf = (addresses: ReadonlyArray<string>, policy: TargetPolicy) => {
  const said: Array<string> = []
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  checkedLookup((_hostname, _options, callback) => callback(null, found), policy)(
    "a.test",
    { all: true },
    (error) => {
      const result = resultOfFailure(error?.code)
      said.push(`${result.outcome}: ${result.error}`)
    },
  )
  return said
}

describe("a name without an allowed address", () => {
  it.each([
    [["169.254.169.254"], {}, "it is link-local or cloud metadata."],
    [["fe80::1", "169.254.0.1"], { denyPrivateTargets: true }, "it is link-local or cloud metadata."],
    [
      ["127.0.0.1", "::1"],
      { denyPrivateTargets: true },
      "it is not public, and SERVICE_DENY_PRIVATE_TARGETS is set.",
    ],
    [
      ["10.0.0.7", "169.254.0.1"],
      { denyPrivateTargets: true },
      "it is not public, and SERVICE_DENY_PRIVATE_TARGETS is set.",
    ],
    [
      ["127.0.0.1", "::1"],
      { denyLoopback: true },
      "it leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it; what the console's Settings allow is for watches alone.",
    ],
  ])("such as %j with %j says why", (addresses, policy, reason) => {
    assert.deepStrictEqual(saidOf(addresses, { denyPrivateTargets: false, ...policy }), [
      `refused: Tocsin does not call the receiver's address: ${reason}`,
    ])
  })
})

/** A shared lookup over a resolver that answers when it is asked to, and what the callers got. */
const sharing = () => {
  const asked: Array<{ readonly name: string; readonly answer: Parameters<ResolveName>[2] }> = []
  const got: Array<ReadonlyArray<unknown>> = []
  const resolve = sharedLookup((name, _options, answer) => void asked.push({ name, answer }))
  return {
    lookUp: (name: string) => resolve(name, { all: true }, (...answer) => got.push([name, ...answer])),
    names: () => asked.map(({ name }) => name),
    answer: (index: number, ...answer: Parameters<Parameters<ResolveName>[2]>) =>
      asked[index]?.answer(...answer),
    got,
  }
}

describe("a shared lookup", () => {
  it("asks once for a name whose answer is awaited, so that a silent one holds one thread", () => {
    const { lookUp, names } = sharing()
    for (let attempt = 0; attempt < 32; attempt++) lookUp("silent.test")
    lookUp("well.test")
    assert.deepStrictEqual(names(), ["silent.test", "well.test"])
  })

  it("gives its answer to all who wait for it, and asks again for the next", () => {
    const { answer, got, lookUp, names } = sharing()
    lookUp("receiver.test")
    lookUp("receiver.test")
    const failure = Object.assign(new Error("getaddrinfo receiver.test"), { code: "EAI_AGAIN" })
    answer(0, failure, [])
    const failed = ["receiver.test", failure, []]
    assert.deepStrictEqual(got, [failed, failed])
    lookUp("receiver.test")
    assert.strictEqual(names().length, 2)
    answer(1, null, resolved)
    assert.deepStrictEqual(got, [failed, failed, ["receiver.test", null, resolved]])
  })
})
