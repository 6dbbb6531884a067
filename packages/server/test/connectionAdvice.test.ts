import { assert, it } from "vitest"
import { connectionAdvice } from "../src/connectionAdvice.ts"

it("the connections of a server are compared with those that PostgreSQL allows", () => {
  assert.isUndefined(connectionAdvice(20))
  assert.strictEqual(
    connectionAdvice(19),
    "this server opens up to 20 connections, but PostgreSQL allows 19: raise max_connections or the limit of the role or database; behind a pooler, ignore this",
  )
})
