import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import type { Answer } from "../client/Answer.ts"
import { addOperator, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { type Item, itemsOf } from "../client/itemsOf.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const UNKNOWN = "0192a3b4-0000-7000-8000-000000000000"

const body = (answer: Answer, status: number): Item => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer.body as Item
}

const pathOf = (id: unknown): string => `/ops/v1/incidents/${String(id)}/acknowledgement`

/** Opens an incident of severity warning, and has its check report other results. */
const openIncident = Effect.gen(function* () {
  const agent = yield* acceptedAgent()
  let second = 0
  const turns = Effect.fnUntraced(function* (status: string, exit_code: number) {
    second += 1
    const observed_at = `2026-03-01T12:00:${String(second).padStart(2, "0")}Z`
    yield* push(agent, event({ status, exit_code, observed_at }))
  })
  yield* turns("warning", 1)
  const [incident] = yield* itemsOf(`/api/v1/incidents?agent_id=${agent.agent_id}`)
  const id = incident?.["id"] ?? assert.fail("no incident is open")
  return {
    id,
    turns,
    acknowledge: (json: object = {}, token?: string) =>
      token === undefined ? operate("PUT", pathOf(id), { json }) : call("PUT", pathOf(id), { json, token }),
    scenario: Effect.map(operate("GET", `/ops/v1/incidents/${String(id)}`), (answer) => body(answer, 200)),
  }
})

const logOf = (scenario: Item): ReadonlyArray<Item> => scenario["log"] as ReadonlyArray<Item>

/** How people acknowledge and note incidents over HTTP (docs/rules.md#acknowledgements). */
export const acknowledgementSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("an acknowledgement names who, until when and for which severity; withdrawing it ends it", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const { acknowledge, id, scenario } = yield* openIncident
      const token = yield* addOperator("eva", "respond")
      const given = body(yield* acknowledge({ note: "on it", for: "2h" }, token), 200)
      const at = new Date(clock.currentTimeMillisUnsafe()).toISOString()
      const until = new Date(clock.currentTimeMillisUnsafe() + 7_200_000).toISOString()
      assert.deepStrictEqual(given, { by: "eva", note: "on it", at, until, severity: "warning" })
      assert.deepStrictEqual((yield* scenario)["acknowledgement"], given)

      const replaced = body(yield* acknowledge({ severity: "warning" }), 200)
      assert.match(String(replaced["by"]), /^token-[0-9a-f]{8}$/)
      assert.notProperty(replaced, "note")
      assert.strictEqual(
        Date.parse(String(replaced["until"])) - Date.parse(String(replaced["at"])),
        28_800_000,
      )

      assert.deepStrictEqual(body(yield* operate("DELETE", pathOf(id)), 200), { count: 1 })
      assert.deepStrictEqual(body(yield* operate("DELETE", pathOf(id)), 200), { count: 0 })
      const told = yield* scenario
      assert.isNull(told["acknowledgement"])
      assert.deepStrictEqual(
        logOf(told).map(({ action }) => action),
        ["withdrawn", "acknowledged", "acknowledged"],
      )
    }),
  )

  scenario("of two operators who acknowledge at the same time, the later counts and both are on record", () =>
    Effect.gen(function* () {
      const { acknowledge, scenario } = yield* openIncident
      const tokens = [yield* addOperator("ann", "respond"), yield* addOperator("bob", "respond")]
      const answers = yield* Effect.forEach(tokens, (token) => acknowledge({}, token), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(
        answers.map((answer) => body(answer, 200)["by"]),
        ["ann", "bob"],
      )
      const told = yield* scenario
      const log = logOf(told)
      assert.deepStrictEqual(log.map(({ by }) => by).toSorted(), ["ann", "bob"])
      assert.strictEqual((told["acknowledgement"] as Item)["by"], log[0]?.["by"])
    }),
  )

  scenario("an incident of another severity, resolved or unknown is not acknowledged", () =>
    Effect.gen(function* () {
      const { acknowledge, id, turns } = yield* openIncident
      const meant = yield* acknowledge({ severity: "critical" })
      assert.include(expectError(meant, 409, "conflict"), "warning")
      expectError(yield* operate("PUT", pathOf(UNKNOWN), { json: {} }), 404, "not_found")
      expectError(yield* operate("DELETE", pathOf(UNKNOWN)), 404, "not_found")
      yield* turns("ok", 0)
      assert.include(expectError(yield* acknowledge(), 409, "conflict"), "resolved")
      assert.deepStrictEqual(body(yield* operate("DELETE", pathOf(id)), 200), { count: 0 })
    }),
  )

  scenario("a bad acknowledgement is refused, with the name of the field", () =>
    Effect.gen(function* () {
      const { acknowledge, scenario } = yield* openIncident
      const soon = "2026-03-01T13:00:00Z"
      const bad: ReadonlyArray<readonly [json: object, field: string]> = [
        [{ for: "1h", until: soon }, "for and until"],
        [{ until: "2026-01-01T00:00:00Z" }, "until"],
        [{ for: "7d1s" }, "for"],
        [{ for: "8d" }, "SERVICE_ACK_MAX"],
        [{ for: "0s" }, "for"],
        [{ for: 3600 }, "for"],
        [{ severity: "ok" }, "severity"],
        [{ note: "" }, "note"],
        [{ note: "x".repeat(1_025) }, "note"],
        [{ who: "eva" }, "who"],
      ]
      for (const [json, field] of bad)
        assert.include(expectError(yield* acknowledge(json), 400, "validation"), field, JSON.stringify(json))
      assert.isNull((yield* scenario)["acknowledgement"])
      body(yield* acknowledge({ for: "7d", note: "x".repeat(1_024) }), 200)
    }),
  )

  scenario("several incidents are acknowledged each on its own", () =>
    Effect.gen(function* () {
      const one = yield* openIncident
      const resolved = yield* openIncident
      yield* resolved.turns("ok", 0)
      const ids = [one.id, resolved.id, UNKNOWN, one.id]
      const path = "/ops/v1/incidents/acknowledge"
      assert.deepStrictEqual(body(yield* operate("POST", path, { json: { ids, note: "all" } }), 200), {
        items: [
          { id: one.id, outcome: "acknowledged" },
          { id: resolved.id, outcome: "resolved" },
          { id: UNKNOWN, outcome: "unknown" },
        ],
      })
      assert.deepInclude((yield* one.scenario)["acknowledgement"], { note: "all" })
      for (const refused of [{ ids: [] }, { ids: Array.from({ length: 201 }, () => UNKNOWN) }, {}])
        assert.include(expectError(yield* operate("POST", path, { json: refused }), 400, "validation"), "ids")
    }),
  )

  scenario("a note is part of the scenario of an incident, open or resolved", () =>
    Effect.gen(function* () {
      const { id, scenario, turns } = yield* openIncident
      const path = `/ops/v1/incidents/${String(id)}/notes`
      const token = yield* addOperator("eva", "respond")
      const first = body(
        yield* call("POST", path, { json: { text: "disk ordered\r\nby Eva\n" }, token }),
        201,
      )
      assert.deepInclude(first, { action: "noted", by: "eva", text: "disk ordered\r\nby Eva\n" })
      yield* turns("ok", 0)
      const second = body(yield* operate("POST", path, { json: { text: "x".repeat(4_096) } }), 201)
      assert.deepStrictEqual(logOf(yield* scenario), [second, first])
      for (const text of ["", "x".repeat(4_097), "\n".repeat(4_097), "a\rb", "a\tb", "\u001b[2J"])
        assert.include(
          expectError(yield* operate("POST", path, { json: { text } }), 400, "validation"),
          "text",
        )
      const unknown = yield* operate("POST", `/ops/v1/incidents/${UNKNOWN}/notes`, { json: { text: "a" } })
      expectError(unknown, 404, "not_found")
    }),
  )

  scenario("a token that only reads changes nothing", () =>
    Effect.gen(function* () {
      const { readToken: token } = yield* Tocsin
      const { acknowledge, id, scenario } = yield* openIncident
      expectError(yield* acknowledge({}, token), 403, "forbidden")
      expectError(yield* call("DELETE", pathOf(id), { token }), 403, "forbidden")
      const many = { json: { ids: [id] }, token }
      expectError(yield* call("POST", "/ops/v1/incidents/acknowledge", many), 403, "forbidden")
      const noted = { json: { text: "a" }, token }
      expectError(yield* call("POST", `/ops/v1/incidents/${String(id)}/notes`, noted), 403, "forbidden")
      assert.deepStrictEqual(logOf(yield* scenario), [])
    }),
  )
}
