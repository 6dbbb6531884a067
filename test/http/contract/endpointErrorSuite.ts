import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { populateLists } from "../client/populateLists.ts"
import { onStorage } from "../onStorage.ts"
import { endpoints, nameOf, pathOf } from "./endpoints.ts"
import { provocationOf } from "./provocations.ts"

/** Headers that HEAD must have in common with GET (RFC 9110, 9.3.2). */
const compared = ["content-type", "cache-control", "content-length"]

/** The errors that the rows of the endpoint table list, and HEAD. */
export const endpointErrorSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
    scenario(`${endpoint.path} answers HEAD like GET, without the body`, () =>
      Effect.gen(function* () {
        yield* populateLists
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
