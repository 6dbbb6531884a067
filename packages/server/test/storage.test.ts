import { assert, it } from "vitest"
import { connectionAdvice } from "../src/connections.ts"

it("the connections of a server are compared with those that PostgreSQL allows", () => {
  assert.isUndefined(connectionAdvice(19))
  assert.strictEqual(
    connectionAdvice(18),
    "this server opens up to 19 connections, but PostgreSQL allows 18: raise max_connections or the limit of the role or database; behind a pooler, ignore this",
  )
})
