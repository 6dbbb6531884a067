import { assert, describe, it } from "vitest"
import { connectionAdvice } from "../src/connectionAdvice.ts"

describe("the connections of all workers", () => {
  it("are compared with those that PostgreSQL allows", () => {
    assert.isUndefined(connectionAdvice(1, 97))
    assert.isUndefined(connectionAdvice(4, 80))
    assert.strictEqual(
      connectionAdvice(5, 97),
      "this server opens up to 100 connections, but PostgreSQL allows 97: raise max_connections or the limit of the role or database, or lower SERVICE_WORKERS; behind a pooler, ignore this",
    )
  })
})
