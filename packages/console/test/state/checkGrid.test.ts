import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { rowsOf } from "../../src/state/lists.ts"

const STATUSES = ["ok", "warning", "unknown", "critical"] as const

const checks = fc.array(
  fc.record({
    agent_id: fc.constantFrom("a", "b", "c", "d"),
    check_id: fc.string({ minLength: 1, maxLength: 3 }),
    status: fc.constantFrom(...STATUSES),
    is_overdue: fc.boolean(),
  }),
  { maxLength: 40 },
)

describe("the grid of checks", () => {
  it("has each agent once, with every check in a cell or in the count of ok ones", () => {
    fc.assert(
      fc.property(checks, (all) => {
        const rows = rowsOf(all, true)
        const ids = rows.map(({ agent_id }) => agent_id)
        assert.sameMembers(ids, Array.from(new Set(all.map(({ agent_id }) => agent_id))))
        const isWell = ({ status, is_overdue }: (typeof all)[number]) => status === "ok" && !is_overdue
        for (const { agent_id, failing, ok } of rows) {
          const own = all.filter((check) => check.agent_id === agent_id)
          assert.sameMembers(
            [...failing],
            own.filter((check) => !isWell(check)),
          )
          assert.strictEqual(ok, own.filter(isWell).length)
        }
      }),
    )
  })

  it("lists the worst first, both agents and the checks of one", () => {
    const severity = (check: { readonly status: (typeof STATUSES)[number] | null } | undefined) =>
      check === undefined ? -1 : STATUSES.findIndex((status) => status === check.status)
    fc.assert(
      fc.property(checks, (all) => {
        const rows = rowsOf(all, true)
        const isFalling = (numbers: ReadonlyArray<number>) =>
          numbers.every((number, index) => index === 0 || number <= (numbers[index - 1] ?? 0))
        assert.isTrue(isFalling(rows.map(({ failing: [worst] }) => severity(worst))))
        for (const { failing } of rows) assert.isTrue(isFalling(failing.map(severity)))
      }),
    )
  })
})
