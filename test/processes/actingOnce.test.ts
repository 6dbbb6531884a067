import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type Base, OPERATOR_TOKEN, operate } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { startServer } from "./ServerProcess.ts"

const SILENCE = {
  matchers: [{ field: "check_id", op: "=", value: "disk" }],
  for: "2h",
  comment: "a new disk",
}

const silence = ({ baseUrl }: Base, key: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${baseUrl}/ops/v1/silences`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "idempotency-key": key },
      body: JSON.stringify(SILENCE),
    })
    return [response.status, await response.json()] as const
  })

const silencesAt = (base: Base) =>
  Effect.map(operate(base, "GET", "/ops/v1/silences"), ({ text }) => JSON.parse(text).items)

describe("acts with an idempotency key", () => {
  it.live("are carried out by one of two servers, and answered by the other after a crash", () =>
    Effect.gen(function* () {
      const scratch = yield* scratchPostgres
      const options = {
        cwd: yield* scratchFolder,
        environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, DATABASE_URL: Redacted.value(scratch.url) },
      }
      const [one, two] = yield* Effect.all([startServer(options), startServer(options)], { concurrency: 2 })
      const answers = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? one : two)),
        (server) => silence(server, "same"),
        { concurrency: "unbounded" },
      )
      for (const answer of answers) assert.deepStrictEqual(answer, [201, answers[0]?.[1]])
      assert.strictEqual((yield* silencesAt(two)).length, 1)
      const [, first] = yield* silence(one, "another")
      yield* one.kill
      assert.deepStrictEqual(yield* silence(two, "another"), [201, first])
      assert.strictEqual((yield* silencesAt(two)).length, 2)
      // The storage cannot read the answer.
      const { sql } = yield* scratch.replica({ maxConnections: 1 })
      const rows = yield* sql`SELECT answer FROM idempotency_key`
      assert.strictEqual(rows.length, 2)
      for (const { answer } of rows) assert.notInclude(String(answer), "disk")
    }),
  )
})
