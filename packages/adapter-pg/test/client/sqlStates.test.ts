import { assert, describe, it } from "@effect/vitest"
import { outlivesStatement, reasonOfSqlState } from "../../src/client/toSqlError.ts"

describe("reasonOfSqlState", () => {
  it.each([
    ["08006", "ConnectionError"],
    ["08P01", "ConnectionError"],
    ["23502", "ConstraintError"],
    ["23503", "ConstraintError"],
    ["23505", "UniqueViolation"],
    ["23514", "ConstraintError"],
    ["23P01", "ConstraintError"],
    ["25006", "ConnectionError"],
    ["25P03", "ConnectionError"],
    ["25P04", "StatementTimeoutError"],
    ["28000", "AuthenticationError"],
    ["28P01", "AuthenticationError"],
    ["40001", "SerializationError"],
    ["40002", "ConstraintError"],
    ["40P01", "DeadlockError"],
    ["42501", "AuthorizationError"],
    ["42601", "SqlSyntaxError"],
    ["42P01", "SqlSyntaxError"],
    ["53300", "ConnectionError"],
    ["55P03", "LockTimeoutError"],
    ["57014", "StatementTimeoutError"],
    ["57P01", "ConnectionError"],
    ["57P02", "ConnectionError"],
    ["57P03", "ConnectionError"],
    ["57P05", "ConnectionError"],
    ["22012", "UnknownError"],
    ["25P02", "UnknownError"],
    ["53100", "UnknownError"],
    ["XX001", "UnknownError"],
    ["", "UnknownError"],
  ])("%s is %s", (sqlState, reason) => {
    assert.strictEqual(reasonOfSqlState(sqlState), reason)
  })
})

describe("outlivesStatement", () => {
  it.each([
    ["26000", "FetchPreparedStatement", true],
    ["0A000", "RevalidateCachedQuery", true],
    ["0A000", "transformLockingClause", false],
    ["25006", "PreventCommandIfReadOnly", true],
    ["23505", "_bt_check_unique", false],
    [undefined, undefined, false],
  ])("%s of %s: %s", (sqlState, routine, expected) => {
    assert.strictEqual(outlivesStatement(sqlState, routine), expected)
  })
})
