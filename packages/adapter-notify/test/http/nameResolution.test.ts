import type { LookupAddress } from "node:dns"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Queue, Redacted } from "effect"
import { startSlowServer } from "@tocsin/test/processes/slowServer"
import { makeHttpPost } from "../../src/http/HttpPost.ts"
import { NameLookup, type ResolveName } from "../../src/http/Target.ts"
import { answering, startReceiver } from "../Receiver.ts"

/** A resolver that gives one answer after another, the last one for ever, and counts. */
const resolving = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  let asked = 0
  const resolve: ResolveName = (_hostname, _options, callback) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? []
    const toRow = (address: string): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })
    process.nextTick(() => callback(null, addresses.map(toRow)))
  }
  return { resolve, asked: () => asked }
}

const posting = (url: string, resolve: ResolveName, denyPrivateTargets = false) =>
  makeHttpPost({
    address: Redacted.make(url),
    timeout: Duration.seconds(15),
    denyPrivateTargets,
  }).pipe(Effect.provideService(NameLookup, resolve))

describe("a name", () => {
  it.effect.each([
    ["169.254.169.254"],
    ["fe80::1"],
    ["fe80::1%eth0"],
    ["::ffff:169.254.169.254"],
    ["fd00:ec2::254"],
    ["100.100.100.200"],
    ["169.254.169.254", "fe80::1%eth0"],
    ["not an address"],
  ])("that leads to %s is refused", (addresses) =>
    Effect.gen(function* () {
      const { resolve, asked } = resolving(addresses)
      const post = yield* posting("http://metadata.test/", resolve)
      const { result, status } = yield* post("{}")
      assert.strictEqual(result.outcome, "refused")
      assert.include(JSON.stringify(result), "does not call the receiver's address")
      assert.notInclude(JSON.stringify(result), "metadata.test")
      assert.isUndefined(status)
      assert.strictEqual(asked(), 1)
    }),
  )

  it.effect("that leads to a private address is refused where those are denied", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      const url = `http://receiver.test:${receiver.port}/`
      const denied = yield* posting(url, resolving(["127.0.0.1"]).resolve, true)
      assert.strictEqual((yield* denied("{}")).result.outcome, "refused")
      const allowed = yield* posting(url, resolving(["127.0.0.1"]).resolve)
      assert.strictEqual((yield* allowed("{}")).result.outcome, "delivered")
      assert.strictEqual(receiver.connections(), 1)
    }),
  )

  it.effect("is called at its other addresses where only some are refused", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      const { resolve } = resolving(["169.254.1.1", "127.0.0.1", "fe80::1"])
      const post = yield* posting(`http://receiver.test:${receiver.port}/`, resolve)
      assert.strictEqual((yield* post("{}")).result.outcome, "delivered")
    }),
  )

  it.effect("has no dot at its end in the request", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      const { resolve } = resolving(["127.0.0.1"])
      const post = yield* posting(`http://Receiver.test.:${receiver.port}/`, resolve)
      assert.strictEqual((yield* post("{}")).result.outcome, "delivered")
      const { headers } = yield* Queue.take(receiver.requests)
      assert.strictEqual(headers.host, `receiver.test:${receiver.port}`)
    }),
  )

  it.effect("is called over a link that takes three seconds to connect, though it has a second address", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(Effect.promise(startSlowServer), ({ end }) =>
        Effect.sync(end),
      )
      const { resolve } = resolving(["127.0.0.1", "::1"])
      const post = yield* posting(`http://receiver.test:${server.port}/`, (hostname, options, callback) =>
        resolve(hostname, options, (error, addresses) => {
          callback(error, addresses)
          setTimeout(server.resume, 2_700)
        }),
      )
      assert.strictEqual((yield* post("{}")).result.outcome, "delivered")
    }),
  )

  it.effect(
    "is resolved once a connection, so that changing its address between check and use gains nothing",
    () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(answering(200, { connection: "close" }))
        const { resolve, asked } = resolving(["127.0.0.1"], ["169.254.169.254"])
        const post = yield* posting(`http://rebinding.test:${receiver.port}/`, resolve)
        assert.strictEqual((yield* post("{}")).result.outcome, "delivered")
        assert.strictEqual(asked(), 1)
        assert.strictEqual(
          (yield* Queue.take(receiver.requests)).headers.host,
          `rebinding.test:${receiver.port}`,
        )
        assert.strictEqual((yield* post("{}")).result.outcome, "refused")
        assert.strictEqual(asked(), 2)
      }),
  )

  it.effect("that cannot be resolved is worth another attempt", () =>
    Effect.gen(function* () {
      const post = yield* posting("http://nowhere.test/", (_hostname, _options, callback) =>
        process.nextTick(() =>
          callback(Object.assign(new Error("getaddrinfo nowhere.test"), { code: "EAI_AGAIN" }), []),
        ),
      )
      const { result } = yield* post("{}")
      const error = "The receiver's host name does not resolve: check the name and the DNS."
      assert.deepStrictEqual(result, { outcome: "deferred", error })
    }),
  )

  it.effect("is resolved by the system where nothing else is provided", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      const post = yield* makeHttpPost({
        address: Redacted.make(`http://localhost:${receiver.port}/`),
        timeout: Duration.seconds(15),
        denyPrivateTargets: false,
      })
      assert.strictEqual((yield* post("{}")).result.outcome, "delivered")
    }),
  )
})
