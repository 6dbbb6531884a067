import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { ReportFold } from "../../../src/features/report/readReport.ts"
import { MOST_ROWS } from "../../../src/features/report/reportedIncidents.ts"

const NONE = { ok: 0, warning: 0, critical: 0, unknown: 0, late: 0, planned: 0, no_data: 0 }
const named = (check: string) => ({
  agent_id: AgentId.make("web"),
  check_id: CheckId.make(check),
  title: null,
})

/** A check that was ok for so many of so many judged seconds. */
const judged = (check: string, ok: number, of: number) => ({
  ...named(check),
  seconds: { ...NONE, ok, critical: of - ok },
  percent: of === 0 ? null : Math.floor((ok * 100_000) / of) / 1_000,
})

describe("the fold of a report", () => {
  it("lists the ten worst checks, the worst first, and none without data", () => {
    const fold = new ReportFold(undefined)
    for (let n = 20; n > 0; n -= 1) fold.add(judged(`c${n}`, n, 20), undefined, [])
    fold.add(judged("silent", 0, 0), undefined, [])
    const { groups, worst } = fold.parts
    assert.deepStrictEqual(
      worst.map(({ check_id }) => String(check_id)),
      Array.from({ length: 10 }, (_, n) => `c${n + 1}`),
    )
    assert.deepStrictEqual(groups, [{ group: null, checks: 21, percent: 52.5 }])
  })

  it("weighs each check of a group by its seconds", () => {
    const fold = new ReportFold("team")
    fold.add(judged("a", 1_000, 1_000), { team: "shop" }, [])
    fold.add(judged("b", 0, 1), { team: "shop" }, [])
    fold.add(judged("c", 0, 0), { team: "idle" }, [])
    fold.add(judged("d", 1, 2), { TEAM: "shop" }, [])
    assert.deepStrictEqual(fold.parts.groups, [
      { group: "idle", checks: 1, percent: null },
      { group: "shop", checks: 2, percent: 99.9 },
      { group: null, checks: 1, percent: 50 },
    ])
  })

  it("says that a group warned where none of its checks was worse", () => {
    const fold = new ReportFold("team")
    const add = (team: string, check: string, seconds: Partial<typeof NONE>) =>
      fold.add({ ...judged(check, 0, 1), seconds: { ...NONE, ...seconds } }, { team }, [])
    add("warned", "a", { ok: 1 })
    add("warned", "b", { warning: 1 })
    add("worse", "c", { warning: 1 })
    add("worse", "d", { warning: 1, late: 1 })
    add("well", "e", { ok: 1, planned: 1, no_data: 1 })
    assert.deepStrictEqual(fold.parts.groups, [
      { group: "warned", checks: 2, percent: 50, warned: true },
      { group: "well", checks: 1, percent: 100 },
      { group: "worse", checks: 2, percent: 0 },
    ])
  })

  it("keeps the newest times of lateness, and counts the others", () => {
    const fold = new ReportFold(undefined)
    const late = Array.from({ length: MOST_ROWS + 7 }, (_, n) => ({
      ...named("job"),
      from: Instant.fromMillis(n * 1_000),
      to: Instant.fromMillis(n * 1_000 + 500),
    }))
    for (const each of late) fold.add(judged("job", 1, 2), undefined, [each])
    const { late: kept, lateLeftOut } = fold.parts
    assert.strictEqual(lateLeftOut, 7)
    assert.deepStrictEqual(kept, late.slice(7).toReversed())
  })
})
