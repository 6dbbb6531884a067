import { likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import { assert } from "@effect/vitest"
import { type Storage, StorageError, StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import type { Answer } from "../client/Answer.ts"
import { call, operate } from "../client/call.ts"
import { type Endpoint, endpoints, nameOf, pathOf } from "../contract/endpoints.ts"
import { errorOf, expectError } from "../client/expectError.ts"
import { onStorage } from "../onStorage.ts"
import {
  acceptedAgent,
  agentPath,
  event,
  heartbeat,
  heartbeatBody,
  newAgent,
  pendingAgent,
  push,
} from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

type Sound = Storage["Service"]
const CAUSE = "no route to postgres.internal:5432"
const MESSAGE = "the server postgres.internal is down"

/** A storage of which everything that a request may need ends like this. */
const ending =
  (end: Effect.Effect<never, StorageError>) =>
  (storage: Sound): Sound => ({
    ...storage,
    transact: () => end,
    page: () => end,
    agent: () => end,
    counts: () => end,
    agentsWithPendingKey: () => end,
  })

const failing = (reason: StorageFailure) =>
  Effect.fail(new StorageError({ reason, message: MESSAGE, cause: new Error(CAUSE) }))

const ask = (endpoint: Endpoint): Effect.Effect<Answer, never, Tocsin> => {
  const { method } = endpoint
  const agent = newAgent()
  if (endpoint.token === "UI token") return operate(method, pathOf(endpoint))
  const json = endpoint.path.endsWith("heartbeat")
    ? heartbeatBody(agent)
    : { agent_id: agent.agent_id, events: [event()] }
  return call(method, endpoint.path, { token: agent.key, json })
}

const needy = endpoints.filter(({ token }) => token !== "none")

/** Asserts a 500 that hides its cause, and a log line with the cause and the request ID. */
const assertInternal = Effect.fnUntraced(function* (answer: Answer, cause: string, because: string) {
  const { observatory } = yield* Tocsin
  const message = expectError(answer, 500, "internal", `${because}: ${answer.text}`)
  assert.notMatch(`${message} ${JSON.stringify(answer.headers)}`, /postgres|route|\.ts:| at |Error/)
  const lines = observatory.log.filter(({ level, text }) => level === "Error" && text.includes(cause))
  assert.isNotEmpty(lines, `${because} is not in the log`)
  assert.isAtLeast(observatory.logged(errorOf(answer).request_id, cause), 1, because)
})

/** The answers while the storage fails (docs/rules.md#failures-of-the-storage). */
export const storageFailureSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  for (const reason of StorageFailure.literals) {
    scenario(
      `a storage that is ${reason}: 500 with Retry-After everywhere, and health stays 200`,
      () =>
        Effect.gen(function* () {
          for (const endpoint of needy) {
            const answer = yield* ask(endpoint)
            yield* assertInternal(answer, CAUSE, nameOf(endpoint))
            assert.strictEqual(answer.headers["retry-after"], "1", nameOf(endpoint))
          }
          assert.strictEqual((yield* call("GET", "/api/v1/health")).status, 200)
        }),
      { spoil: ending(failing(reason)) },
    )
  }

  const unsettled = new StorageError({ reason: "unavailable", isUnknown: true, message: MESSAGE })
  for (const isKept of [true, false]) {
    let isSettled = true
    scenario(
      `a lost reply to a commit that was ${isKept ? "kept" : "not kept"}: agents' requests are decided again`,
      () =>
        Effect.gen(function* () {
          const agent = yield* acceptedAgent()
          isSettled = false
          assert.strictEqual((yield* heartbeat(agent)).status, 202)
          assert.isTrue(isSettled)
          isSettled = false
          const answer = yield* push(agent, event())
          assert.strictEqual(answer.status, 202)
          assert.deepStrictEqual(answer.body, {
            accepted: isKept ? 0 : 1,
            deduplicated: isKept ? 1 : 0,
          })
        }),
      {
        spoil: (storage) => ({
          ...storage,
          transact: (command) =>
            Effect.suspend(() => {
              if (isSettled) return storage.transact(command)
              isSettled = true
              const kept = isKept ? Effect.asVoid(storage.transact(command)) : Effect.void
              return Effect.andThen(kept, unsettled)
            }),
        }),
      },
    )
  }

  scenario(
    "a storage with a defect: 500 everywhere",
    () =>
      Effect.gen(function* () {
        for (const endpoint of needy) yield* assertInternal(yield* ask(endpoint), CAUSE, nameOf(endpoint))
        assert.strictEqual((yield* call("GET", "/api/v1/health")).status, 200)
      }),
    { spoil: ending(Effect.die(new Error(CAUSE))) },
  )

  scenario(
    "a storage that throws: 500 everywhere",
    () =>
      Effect.gen(function* () {
        for (const endpoint of needy) yield* assertInternal(yield* ask(endpoint), CAUSE, nameOf(endpoint))
      }),
    {
      spoil: ending(
        Effect.suspend(() => {
          throw new Error(CAUSE)
        }),
      ),
    },
  )

  scenario(
    "a storage that never answers: 500 with Retry-After after the timeout",
    () =>
      Effect.forEach(
        needy,
        (endpoint) =>
          Effect.gen(function* () {
            const answer = yield* ask(endpoint)
            expectError(answer, 500, "internal", nameOf(endpoint))
            assert.strictEqual(answer.headers["retry-after"], "1", nameOf(endpoint))
          }),
        { concurrency: "unbounded", discard: true },
      ),
    { spoil: ending(Effect.never), storageTimeout: "100 millis" },
  )

  scenario(
    "a decision that throws: 500, and nothing changes",
    () =>
      Effect.gen(function* () {
        const agent = newAgent()
        yield* assertInternal(yield* heartbeat(agent), CAUSE, "heartbeat")
        expectError(yield* operate("GET", agentPath(agent)), 404, "not_found")
      }),
    {
      spoil: (storage) => ({
        ...storage,
        transact: (command) =>
          storage.transact(
            likewise(command, function* (workspace, now) {
              yield* command(workspace, now)
              throw new Error(CAUSE)
            }),
          ),
      }),
    },
  )

  const unshowable = { hostname: "h".repeat(254) }
  scenario(
    "a row outside the contract: 500 instead of a body that breaks it",
    () =>
      Effect.gen(function* () {
        const { observatory } = yield* Tocsin
        const agent = yield* pendingAgent()
        for (const path of [agentPath(agent), "/api/v1/agents"]) {
          const before = observatory.log.length
          expectError(yield* operate("GET", path), 500, "internal", path)
          assert.isTrue(
            observatory.log.slice(before).some(({ level }) => level === "Error"),
            path,
          )
        }
      }),
    {
      spoil: (storage) => ({
        ...storage,
        agent: (id) => Effect.map(storage.agent(id), (agent) => agent && { ...agent, ...unshowable }),
        page: (request) =>
          Effect.map(storage.page(request), (rows) => rows.map((row) => ({ ...row, ...unshowable }))),
      }),
    },
  )

  let isAway = false
  scenario(
    "a storage that recovers: no restart, and refused requests changed nothing",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        isAway = true
        const events = [event()]
        const send = call("POST", "/api/v1/events", {
          token: agent.key,
          json: { agent_id: agent.agent_id, events },
        })
        expectError(yield* send, 500, "internal")
        const polls = Array.from({ length: 10 }, () => operate("GET", "/api/v1/system-summary"))
        for (const answer of yield* Effect.all(polls, { concurrency: "unbounded" }))
          expectError(answer, 500, "internal")
        isAway = false
        assert.deepStrictEqual((yield* send).body, { accepted: 1, deduplicated: 0 })
        assert.strictEqual((yield* operate("GET", "/api/v1/system-summary")).status, 200)
      }),
    {
      spoil: (storage) => {
        const away = ending(failing("unavailable"))(storage)
        const either = () => (isAway ? away : storage)
        return {
          ...storage,
          transact: (command) => either().transact(command),
          counts: (since) => either().counts(since),
        }
      },
    },
  )
}
