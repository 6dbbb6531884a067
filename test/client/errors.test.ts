import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { createClient, isTocsinClientError } from "@tocsin/client"
import { TocsinClient } from "@tocsin/client/TocsinClient"
import type { PromiseClientOptions } from "@tocsin/client/createClient"
import { Effect, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { failures } from "./failures.ts"
import { errorBody, faultyServer, type Manner, SUMMARY } from "./FaultyServer.ts"

const SECRET = "tell-no-one-of-this-token"

/** The rejection of a summary from such a server. */
const failureOf = Effect.fnUntraced(function* (options: PromiseClientOptions) {
  const client = createClient({ token: SECRET, agentKey: SECRET, retries: false, ...options })
  return yield* Effect.promise(() =>
    client.summary().then(
      () => assert.fail("it did not reject"),
      (error: unknown) =>
        isTocsinClientError(error) ? error : assert.fail(`it rejected with ${String(error)}`),
    ),
  )
})

/** All that somebody who logs an error in any way could see of it. */
const allOf = (error: Error): string =>
  [
    inspect(error, { depth: null, showHidden: true, getters: true }),
    JSON.stringify(error),
    String(error),
    error.stack,
  ].join()

describe("the failures of a client", () => {
  for (const [name, manner, code, message] of failures) {
    it.live(`${name}: ${code}`, () =>
      Effect.gen(function* () {
        const server = yield* faultyServer(manner)
        const isSlow = manner === "silent"
        const error = yield* failureOf({ baseUrl: server.address, ...(isSlow && { timeout: 2_000 }) })
        assert.strictEqual(error.code, code)
        assert.match(error.message, message)
        assert.strictEqual(server.arrivals[0]?.authorization, `Bearer ${SECRET}`)
        assert.notInclude(allOf(error), SECRET)
      }),
    )
  }

  it.live("does not ask again for an answer that is too large", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer("large")
      yield* failureOf({ baseUrl: server.address, retries: { times: 3 } })
      assert.lengthOf(server.arrivals, 1)
    }),
  )

  it.live("takes an answer of almost 16 MiB", () =>
    Effect.gen(function* () {
      const body = " ".repeat(16 * 2 ** 20 - 1000) + JSON.stringify(SUMMARY)
      const server = yield* faultyServer({ status: 200, body })
      const client = createClient({ baseUrl: server.address, token: SECRET })
      assert.deepStrictEqual(yield* Effect.promise(() => client.summary()), SUMMARY)
    }),
  )

  describe("where next_cursor repeats", () => {
    const page = (next_cursor: string): Manner => ({
      status: 200,
      body: JSON.stringify({ items: [], next_cursor, prev_cursor: null }),
    })
    const complaint = /gave the same next_cursor twice, so the list would never end/

    it.live("ends the iterator and the stream with an error", () =>
      Effect.gen(function* () {
        const server = yield* faultyServer(page("a"), page("b"), page("a"))
        const options = { baseUrl: server.address, token: SECRET }
        const thrown = yield* Effect.promise(async () => {
          try {
            for await (const _ of createClient(options).agents.all()) assert.fail("the pages are empty")
            return undefined
          } catch (error) {
            return error
          }
        })
        assert.isTrue(isTocsinClientError(thrown) && thrown.code === "unexpected_answer")
        assert.match(String(thrown), complaint)
        assert.lengthOf(server.arrivals, 3)
        const calls = yield* Effect.provide(TocsinClient.make(options), FetchHttpClient.layer)
        const failure = yield* Effect.flip(Stream.runDrain(calls.agents.all()))
        assert.strictEqual(failure.code, "unexpected_answer")
        assert.match(failure.message, complaint)
      }),
    )
  })

  it.live("says that nobody listens", () =>
    Effect.gen(function* () {
      const { address } = yield* Effect.scoped(faultyServer("cut"))
      const error = yield* failureOf({ baseUrl: address })
      assert.strictEqual(error.code, "connection")
      assert.include(error.message, "ECONNREFUSED")
      assert.notInclude(allOf(error), SECRET)
    }),
  )

  it.live("tells what the service told of itself: request id, status, when to come back", () =>
    Effect.gen(function* () {
      const headers = { "retry-after": "17" }
      const server = yield* faultyServer({ status: 500, headers, body: errorBody("internal") })
      const { code, status, requestId, retryAfterSeconds } = yield* failureOf({ baseUrl: server.address })
      assert.deepStrictEqual(
        { code, status, requestId, retryAfterSeconds },
        { code: "internal", status: 500, requestId: "request-1", retryAfterSeconds: 17 },
      )
    }),
  )

  it.live("shows of an address its origin alone", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer("cut")
      const error = yield* failureOf({ baseUrl: `${server.address}/secret/path/` })
      assert.strictEqual(server.arrivals[0]?.path, "/secret/path/api/v1/system-summary")
      assert.notInclude(error.message, "secret")
    }),
  )

  it.live("sends no headers of tracing, which a browser would have to ask for", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer("cut")
      yield* failureOf({ baseUrl: server.address })
      const names = Object.keys(server.arrivals[0]?.headers ?? {})
      assert.deepStrictEqual(
        names.filter((name) => /^(traceparent|b3|x-b3)/.test(name)),
        [],
      )
    }),
  )
})

const address = "https://monitoring.example"
const badOptions: ReadonlyArray<readonly [options: PromiseClientOptions, message: RegExp]> = [
  [{ baseUrl: "monitoring.example" }, /^baseUrl must be an http or https address/],
  [{ baseUrl: "ftp://monitoring.example" }, /^baseUrl must be an http or https address/],
  [{ baseUrl: `https://me:${SECRET}@monitoring.example` }, /^baseUrl must not hold a user or a password/],
  [{ baseUrl: `${address}?token=${SECRET}` }, /^baseUrl must be an address without \?/],
  [{ baseUrl: address, token: `${SECRET}\n` }, /^token must be 1 to 512 visible ASCII/],
  [{ baseUrl: address, agentKey: "" }, /^agentKey must be 1 to 512 visible ASCII/],
  [{ baseUrl: address, token: Redacted.make(`${SECRET} `) } as never, /^token must be/],
  [{ baseUrl: address, timeout: 0 }, /^timeout must be a duration such as/],
  [{ baseUrl: address, retries: { times: -1 } }, /^retries\.times must be/],
  [{ baseUrl: address, retries: { within: -1 } }, /^retries\.within must be/],
  // Plain JavaScript can give anything.
  [undefined as never, /^baseUrl must be an http or https address/],
  [{} as never, /^baseUrl must be an http or https address/],
  [address as never, /^the options must be in an object$/],
  [{ baseURL: address } as never, /^baseURL is not an option; did you mean baseUrl\?\nbaseUrl must be/],
  [
    { baseUrl: address, retries: { time: 3 } } as never,
    /^retries\.time is not an option; did you mean times\?$/,
  ],
  [{ baseUrl: address, retries: 3 } as never, /^retries must be \{ times, within \}, or false/],
  [{ baseUrl: address, fetch: "f" } as never, /^fetch must be a function$/],
  [
    { baseUrl: "x", token: "", timeout: 0, retries: { times: -1 } },
    /^baseUrl must.*\ntoken must.*\ntimeout must.*\nretries\.times must[^\n]*$/,
  ],
]

describe("options", () => {
  for (const [options, message] of badOptions) {
    it.effect(`that are refused: ${message.source}`, () =>
      Effect.gen(function* () {
        const thrown = yield* Effect.flip(
          Effect.try({ try: () => createClient(options), catch: (error) => error }),
        )
        assert.isTrue(isTocsinClientError(thrown))
        if (!isTocsinClientError(thrown)) return
        assert.strictEqual(thrown.code, "options")
        assert.match(thrown.message, message)
        assert.notInclude(allOf(thrown), SECRET)
        const failed = yield* Effect.flip(Effect.provide(TocsinClient.make(options), FetchHttpClient.layer))
        assert.strictEqual(failed.message, thrown.message)
      }),
    )
  }
})
