import { assert, it } from "@effect/vitest"
import { hasSameTerms } from "../../../src/heart/overdue/changeExpectation.ts"
import type { Terms } from "../../../src/heart/model/ExpectationRecord.ts"

const TERMS: Terms = {
  every_millis: 60_000,
  after_millis: 180_000,
  cron: "0 3 * * *",
  tz: "Europe/Berlin",
  grace_millis: 3_600_000,
  severity: "critical",
  is_severity_stated: true,
  notifications_enabled: true,
  incident: "own",
}

const CHANGES: Readonly<Record<keyof Terms, unknown>> = {
  every_millis: undefined,
  after_millis: 180_001,
  cron: "0 4 * * *",
  tz: "UTC",
  grace_millis: undefined,
  severity: "warning",
  is_severity_stated: undefined,
  notifications_enabled: false,
  incident: undefined,
}

it("terms are the same for when a check is late, how severe and how loud that is, not for its incident", () => {
  const others = Object.entries(CHANGES).filter(
    ([name, value]) => !hasSameTerms(TERMS, { ...TERMS, [name]: value }),
  )
  const names = others.map(([name]) => name)
  assert.deepStrictEqual(names.toSorted(), [
    "after_millis",
    "cron",
    "every_millis",
    "grace_millis",
    "notifications_enabled",
    "severity",
    "tz",
  ])
})
