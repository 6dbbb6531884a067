import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { type Endpoint, endpoints, nameOf, pathOf } from "./endpoints.ts"
import { onStorage } from "../onStorage.ts"
import { firstBlacklistId, populateLists } from "../client/populateLists.ts"
import { problemsOf } from "./shapes.ts"
import { event, heartbeatBody, type TestAgent } from "../client/TestAgent.ts"

const succeed = (endpoint: Endpoint, agent: TestAgent, key_id: string) => {
  const { method } = endpoint
  const path = pathOf(endpoint, { key_id })
  switch (endpoint.token) {
    case "none":
      return call(method, path)
    case "UI token":
      return operate(method, path)
    case "agent key":
      return call(method, path, {
        token: agent.key,
        json: path.endsWith("/heartbeat")
          ? heartbeatBody(agent)
          : { agent_id: agent.agent_id, events: [event()] },
      })
  }
}

const assertSuccess = Effect.fnUntraced(function* (endpoint: Endpoint, agent: TestAgent) {
  const answer = yield* succeed(endpoint, agent, yield* firstBlacklistId)
  assert.strictEqual(answer.status, endpoint.success, answer.text)
  assert.deepStrictEqual(problemsOf(endpoint.shape, answer.body), [], nameOf(endpoint))
  // An empty list would prove nothing.
  assert.notMatch(answer.text, /"items":\[\]/, nameOf(endpoint))
})

/** The success of every row of the endpoint table, and its body to the field. */
export const endpointSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("GET answers 200 with exactly the fields of the contract", () =>
    Effect.gen(function* () {
      const { agent } = yield* populateLists
      for (const endpoint of endpoints.filter(({ method }) => method === "GET"))
        yield* assertSuccess(endpoint, agent)
    }),
  )

  for (const endpoint of endpoints.filter(({ method }) => method !== "GET")) {
    scenario(`${nameOf(endpoint)} answers ${endpoint.success} with exactly the fields of the contract`, () =>
      Effect.gen(function* () {
        const { agent } = yield* populateLists
        yield* assertSuccess(endpoint, agent)
      }),
    )
  }
}
