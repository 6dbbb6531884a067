import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@tocsin/client"
import { Effect } from "effect"
import { ApiFailure } from "../../packages/console/src/api/ApiFailure.ts"
import { actOnce, request, type RequestOptions, segment } from "../../packages/console/src/api/request.ts"
import { failures } from "../client/failures.ts"
import { errorBody, faultyServer, healthy, SUMMARY } from "../client/FaultyServer.ts"

const TOKEN = "tell-no-one-of-this-token"

/** Failures that only a client finds that reads with a bound, and against the definition of the API. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set([
  "an answer without an end",
  "an answer of a terabyte",
  "JSON of something else",
  "an error that the call does not know",
])

const summary = (base: string, options?: RequestOptions) =>
  request({ base: `${base}/`, token: TOKEN }, "GET", "api/v1/system-summary", options)

const failureOf = (base: string, options?: RequestOptions) =>
  Effect.promise(() =>
    summary(base, options).then(
      () => assert.fail("it did not reject"),
      (error: unknown) => (error instanceof ApiFailure ? error : assert.fail(String(error))),
    ),
  )

describe("the calls of the console, like those of the client", () => {
  for (const [name, manner, code] of failures.filter(([each]) => !OF_THE_CLIENT.has(each)))
    it.live(`fail with ${code} for ${name}`, () =>
      Effect.gen(function* () {
        const server = yield* faultyServer(manner)
        const error = yield* failureOf(server.address, manner === "silent" ? { timeoutMillis: 2_000 } : {})
        assert.strictEqual(error.code, code)
        assert.strictEqual(server.arrivals[0]?.authorization, `Bearer ${TOKEN}`)
        assert.lengthOf(server.arrivals, 1)
        assert.notInclude(`${inspect(error, { depth: null, showHidden: true })}${error.stack}`, TOKEN)
      }),
    )

  it.live.each([
    [401, "<html>401 Authorization Required</html>", "proxy"],
    [403, "<html>Sign in</html>", "proxy"],
    [401, "{}", "proxy"],
    [401, errorBody("unauthorized"), "unauthorized"],
    [403, errorBody("forbidden"), "forbidden"],
  ] as const)("take %i with %s for a refusal by %s", ([status, body, code]) =>
    Effect.gen(function* () {
      const server = yield* faultyServer({ status, body })
      assert.strictEqual((yield* failureOf(server.address)).code, code)
    }),
  )

  it.live("answer as the service does, and repeat its request id and status", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(healthy, { status: 500, body: errorBody("internal") })
      assert.deepStrictEqual(yield* Effect.promise(() => summary(server.address)), SUMMARY)
      const { code, status, requestId } = yield* failureOf(server.address)
      assert.deepStrictEqual(
        { code, status, requestId },
        { code: "internal", status: 500, requestId: "request-1" },
      )
    }),
  )

  it.live("address the same paths, whatever an agent is named", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer({ status: 404, body: errorBody("not_found") })
      const client = createClient({ baseUrl: server.address, token: TOKEN, retries: false })
      for (const id of [".", "..", "a:b", "web-1"]) {
        yield* Effect.promise(() => client.agents.get(id).catch(() => undefined))
        const path = `api/v1/agents/${segment(id)}`
        const base = `${server.address}/`
        yield* Effect.promise(() => request({ base, token: TOKEN }, "GET", path).catch(() => undefined))
      }
      const paths = server.arrivals.map(({ path }) => path)
      assert.lengthOf(paths, 8)
      assert.deepStrictEqual(
        paths.filter((_, index) => index % 2 === 0),
        paths.filter((_, index) => index % 2 === 1),
      )
    }),
  )

  it.live("carry out an act once: a repeat after a lost answer has its key, until an act is answered", () =>
    Effect.gen(function* () {
      const done = { status: 200, body: "{}" }
      const server = yield* faultyServer(
        "cut half-way",
        done,
        "cut",
        "cut",
        "cut half-way",
        "cut",
        done,
        done,
        done,
      )
      const unanswered = new Map<string, string>()
      const act = (path: string, text: string) =>
        Effect.promise(() =>
          actOnce({ base: `${server.address}/`, token: TOKEN }, unanswered, "POST", path, {
            body: { text },
          }).then(
            () => "done",
            () => "lost",
          ),
        )
      const notes = "ops/v1/incidents/1/notes"
      assert.strictEqual(yield* act(notes, "a"), "done")
      assert.strictEqual(yield* act(notes, "a"), "lost")
      assert.strictEqual(yield* act(notes, "b"), "lost")
      assert.strictEqual(yield* act(notes, "a"), "done")
      assert.strictEqual(yield* act(notes, "b"), "done")
      assert.strictEqual(yield* act("ops/v1/notifiers/mail/test", "a"), "done")
      const keys = server.arrivals.map(({ headers }) => headers["idempotency-key"])
      const [first, , second, , third, , , last] = keys
      assert.deepStrictEqual(keys, [first, first, second, second, third, third, second, last, undefined])
      assert.lengthOf(new Set(keys), 5)
    }),
  )
})
