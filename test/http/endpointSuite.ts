import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "../storage/StorageUnderTest.ts"
import { call, operate } from "./call.ts"
import { type Endpoint, endpoints, nameOf, pathOf } from "./endpoints.ts"
import { expectError } from "./expectError.ts"
import { onStorage } from "./onStorage.ts"
import { firstBlacklistId, populate } from "./population.ts"
import { provocationOf } from "./provocations.ts"
import { problemsOf } from "./shapes.ts"
import { event, heartbeatBody, type TestAgent } from "./TestAgent.ts"

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

/** Headers that HEAD must have in common with GET (RFC 9110, 9.3.2). */
const compared = ["content-type", "cache-control", "content-length"]

/** The success of every row of the endpoint table, and its body to the field. */
export const endpointSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  for (const endpoint of endpoints) {
    scenario(
      `${nameOf(endpoint)} answers ${endpoint.success}, with the fields of the contract and no other`,
      () =>
        Effect.gen(function* () {
          const { agent } = yield* populate
          const answer = yield* succeed(endpoint, agent, yield* firstBlacklistId)
          assert.strictEqual(answer.status, endpoint.success, answer.text)
          assert.deepStrictEqual(problemsOf(endpoint.shape, answer.body), [])
          // Nothing is proved by an empty list.
          assert.notMatch(answer.text, /"items":\[\]/)
        }),
    )
  }
}

/** The errors that the rows of the endpoint table list, and HEAD. */
export const endpointErrorSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
    scenario(`${endpoint.path} answers HEAD as GET, without the body`, () =>
      Effect.gen(function* () {
        yield* populate
        const path = pathOf(endpoint)
        const [get, head] = yield* Effect.all([operate("GET", path), operate("HEAD", path)])
        assert.strictEqual(head.status, get.status)
        for (const name of compared) assert.strictEqual(head.headers[name], get.headers[name], name)
        if (endpoint.token !== "none") assert.strictEqual((yield* call("HEAD", path)).status, 401)
      }),
    )
  }

  for (const endpoint of endpoints) {
    for (const error of endpoint.errors) {
      const { options, provoke } = provocationOf(error)
      const [status, code = ""] = error.split(" ")
      scenario(
        `${nameOf(endpoint)} answers ${error}`,
        () =>
          Effect.gen(function* () {
            expectError(yield* provoke(endpoint), Number(status), code)
          }),
        options,
      )
    }
  }
}
