import { assert, describe, it, vi } from "@effect/vitest"
import fc from "fast-check"
import { gridOf, rowsOf } from "../../src/state/checkGrid.ts"

const STATUSES = ["ok", "warning", "unknown", "critical"] as const
const SEVERITIES = ["warning", "unknown", "critical"] as const

const checks = fc.array(
  fc
    .record({
      agent_id: fc.constantFrom("a", "b", "c", "d"),
      check_id: fc.string({ minLength: 1, maxLength: 3 }),
      status: fc.constantFrom(...STATUSES),
      late_severity: fc.constantFrom(...SEVERITIES, null),
      isLate: fc.boolean(),
    })
    .map(({ isLate, ...check }) => ({
      ...check,
      title: null,
      state: isLate && check.late_severity !== null ? ("late" as const) : check.status,
    })),
  { maxLength: 40 },
)

describe("the grid of checks", () => {
  it("has each agent once, with every check in a cell or in the count of ok ones", () => {
    fc.assert(
      fc.property(checks, (all) => {
        const rows = rowsOf(all, true)
        const ids = rows.map(({ agent_id }) => agent_id)
        assert.sameMembers(ids, Array.from(new Set(all.map(({ agent_id }) => agent_id))))
        const isWell = ({ state }: (typeof all)[number]) => state === "ok"
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

  it("counts what is not ok, and claims nothing of the others, where there are many checks", async () => {
    vi.stubGlobal("fetch", (address: string) => {
      const { searchParams } = new URL(address)
      const [status, state] = [searchParams.get("status"), searchParams.get("state")]
      const all = ["critical", "warning", "unknown"].flatMap((each, place) =>
        Array.from({ length: many }, (_, n) => ({
          agent_id: `agent-${String(n % 3)}`,
          check_id: `${each}-${n}`,
          status: each,
          state: each,
          late_severity: null,
          place,
        })),
      )
      const found = all.filter((check) => status === "not_ok" || check.state === state)
      const from = Number(searchParams.get("cursor") ?? 0)
      const to = from + Number(searchParams.get("limit"))
      const next_cursor = to < found.length ? String(to) : null
      return Promise.resolve(Response.json({ items: found.slice(from, to), next_cursor }))
    })
    let many = 200
    const { items, isSlow } = await gridOf({}, false).read(undefined)
    assert.deepStrictEqual(
      items.map(({ agent_id, failing, isAll, ok }) => [agent_id, failing.length, isAll, ok]),
      [
        ["agent-0", 201, true, undefined],
        ["agent-1", 201, true, undefined],
        ["agent-2", 198, true, undefined],
      ],
    )
    assert.isTrue(isSlow)
    many = 900
    const { items: first, next_cursor } = await gridOf({}, false).read(undefined)
    assert.isTrue(
      first.every(({ failing, isAll }) => !isAll && failing.every(({ status }) => status === "critical")),
    )
    assert.isString(next_cursor)
    vi.unstubAllGlobals()
  })

  it("lists the worst first, both agents and the checks of one", () => {
    const severity = (check: Parameters<typeof rowsOf>[0][number] | undefined) =>
      check === undefined
        ? -1
        : Math.max(
            STATUSES.findIndex((status) => status === check.status),
            check.state === "late" ? STATUSES.findIndex((status) => status === check.late_severity) : 0,
          )
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
