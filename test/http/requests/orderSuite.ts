import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { errorOf } from "../client/expectError.ts"
import { onStorage } from "../onStorage.ts"
import {
  acceptedAgent,
  block,
  event,
  heartbeat,
  heartbeatBody,
  newAgent,
  pendingAgent,
  type TestAgent,
} from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

/**
 * The possible faults of one request in the order of their checks (docs/rules.md#order-of-checks),
 * with their answers.
 */
const faults = {
  path: "404 not_found",
  "token malformed": "401 unauthorized",
  "UI token as key": "401 unauthorized",
  size: "413 payload_too_large",
  encoding: "400 validation",
  JSON: "400 validation",
  schema: "400 validation",
  rate: "429 rate_limited",
  blocked: "403 agent_blocked",
  "another agent's": "409 conflict",
  terms: "400 validation",
} as const
type Fault = keyof typeof faults
const order = Object.keys(faults)

const LIMIT = 1_048_576

/** Faults that cannot be together: a request has one token, a key one state. */
const exclusive: ReadonlyArray<ReadonlyArray<Fault>> = [
  ["token malformed", "UI token as key"],
  ["JSON", "schema"],
  ["blocked", "another agent's"],
]

/** Each of these faults, and each two that can be together. */
const sets = (of: ReadonlyArray<Fault>): ReadonlyArray<ReadonlyArray<Fault>> => {
  const all = of.flatMap((one, index) => [[one], ...of.slice(index + 1).map((other) => [one, other])])
  return all.filter((set) =>
    exclusive.every((group) => group.filter((fault) => set.includes(fault)).length < 2),
  )
}

const answerTo = (set: ReadonlyArray<Fault>, codes: Readonly<Record<Fault, string>>): string =>
  codes[set.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))[0] ?? "path"]

/**
 * The agent whose key is in the state that the faults ask for. Every key has two heartbeats;
 * another than these is free.
 */
const agentWith = Effect.fnUntraced(function* (set: ReadonlyArray<Fault>) {
  const agent = set.includes("blocked") ? yield* pendingAgent() : yield* acceptedAgent()
  if (set.includes("blocked")) yield* block(agent)
  if (set.includes("rate")) yield* heartbeat(agent)
  return set.includes("another agent's") ? { ...newAgent(), key: agent.key } : agent
})

/** Requests of agents: the method, the path and a body. */
const requests = {
  heartbeat: ["POST", () => "/api/v1/heartbeat", (agent: TestAgent): object => heartbeatBody(agent)],
  events: [
    "POST",
    () => "/api/v1/events",
    ({ agent_id }: TestAgent): object => ({ agent_id, events: [event()] }),
  ],
  expectations: [
    "PUT",
    ({ agent_id }: TestAgent) => `/ops/v1/agents/${agent_id}/expectations`,
    (_agent: TestAgent, set: ReadonlyArray<Fault>): object => ({
      checks: [{ check_id: "disk", cron: set.includes("terms") ? "0 0 30 2 *" : "0 3 * * *", tz: "UTC" }],
    }),
  ],
} as const
type Kind = keyof typeof requests

const bodyOf = (set: ReadonlyArray<Fault>, agent: TestAgent, kind: Kind): string => {
  const right = requests[kind][2](agent, set)
  const json = JSON.stringify(set.includes("schema") ? { ...right, extra: 1 } : right)
  const text = set.includes("JSON") ? json.slice(0, -1) : json
  return set.includes("size") ? text.padEnd(LIMIT + 1, " ") : text
}

const send = Effect.fnUntraced(function* (set: ReadonlyArray<Fault>, kind: Kind) {
  const { uiToken } = yield* Tocsin
  const agent = yield* agentWith(set)
  const token = set.includes("UI token as key") ? uiToken : agent.key
  const [method, pathOf] = requests[kind]
  return yield* call(method, `${pathOf(agent)}${set.includes("path") ? "/nowhere" : ""}`, {
    token: set.includes("token malformed") ? `${token} ${token}` : token,
    headers: set.includes("encoding") ? { "content-encoding": "gzip" } : {},
    body: bodyOf(set, agent, kind),
  })
})

const operatorFaults = ["token", "read-only token", "size", "parameter", "agent"] as const
const operatorCodes = {
  token: "401 unauthorized",
  "read-only token": "403 forbidden",
  size: "413 payload_too_large",
  parameter: "400 validation",
  agent: "404 not_found",
} as const

const operatorSets = Array.from({ length: 31 }, (_, index) =>
  operatorFaults.filter((_, bit) => ((index + 1) & (1 << bit)) !== 0),
).filter((set) => !(set.includes("token") && set.includes("read-only token")))

/** Which of several faults a request is refused for (docs/rules.md#order-of-checks). */
export const orderSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together } = onStorage(subject)
  const twoHeartbeats = { rules: { heartbeatRate: { perMinute: 1, burst: 2 } } }

  together(
    "requests",
    (it) => {
      const all = Object.keys(faults) as ReadonlyArray<Fault>
      const of = all.filter((fault) => fault !== "terms")
      describe("POST /api/v1/heartbeat", () => {
        it.effect.each(sets(of).map((set) => [set.join(", "), set] as const))("with wrong %s", ([, set]) =>
          Effect.gen(function* () {
            const answer = yield* send(set, "heartbeat")
            assert.strictEqual(`${answer.status} ${errorOf(answer).code}`, answerTo(set, faults))
          }),
        )
      })

      describe("POST /api/v1/events", () => {
        const codes = { ...faults, "another agent's": "403 agent_not_accepted" }
        const some = of.filter((fault) => fault !== "rate")
        it.effect.each(sets(some).map((set) => [set.join(", "), set] as const))("with wrong %s", ([, set]) =>
          Effect.gen(function* () {
            const answer = yield* send(set, "events")
            assert.strictEqual(`${answer.status} ${errorOf(answer).code}`, answerTo(set, codes))
          }),
        )
      })

      describe("PUT /ops/v1/agents/{agent_id}/expectations", () => {
        const codes = { ...faults, "another agent's": "403 agent_not_accepted" }
        it.effect.each(sets(all).map((set) => [set.join(", "), set] as const))("with wrong %s", ([, set]) =>
          Effect.gen(function* () {
            const answer = yield* send(set, "expectations")
            assert.strictEqual(`${answer.status} ${errorOf(answer).code}`, answerTo(set, codes))
          }),
        )
      })

      describe("an endpoint of operators", () => {
        it.effect.each(operatorSets.map((set) => [set.join(", "), set] as const))(
          "with wrong %s",
          ([, set]) =>
            Effect.gen(function* () {
              const { readToken } = yield* Tocsin
              const agent = yield* pendingAgent()
              const isReadOnly = set.includes("read-only token")
              const id = set.includes("parameter")
                ? "a%20b"
                : set.includes("agent")
                  ? "nobody"
                  : agent.agent_id
              const body = set.includes("size") ? " ".repeat(LIMIT + 1) : "not even JSON"
              for (const [method, path] of [
                ...(isReadOnly ? [] : [["GET", ""] as const]),
                ["DELETE", ""],
                ["POST", "/accept"],
                ["POST", "/block"],
              ] as const) {
                const token = set.includes("token") ? "wrong" : isReadOnly ? readToken : undefined
                const made = { body, ...(token !== undefined && { token }) }
                const answer = yield* operate(method, `/api/v1/agents/${id}${path}`, made)
                const expected = operatorCodes[operatorFaults.find((fault) => set.includes(fault)) ?? "token"]
                assert.strictEqual(`${answer.status} ${errorOf(answer).code}`, expected, `${method} ${path}`)
              }
            }),
        )

        it.effect("checks the token before a query", () =>
          Effect.gen(function* () {
            for (const path of [
              "/api/v1/agents?limit=0",
              "/api/v1/incidents?sort=size",
              "/api/v1/checks?cursor=",
            ]) {
              assert.strictEqual((yield* call("GET", path, { token: "wrong" })).status, 401)
              assert.strictEqual((yield* operate("GET", path)).status, 400)
            }
          }),
        )
      })
    },
    twoHeartbeats,
  )
}
