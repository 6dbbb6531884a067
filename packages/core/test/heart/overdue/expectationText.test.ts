import { assert, it } from "@effect/vitest"
import { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { expectationText, termsText } from "../../../src/heart/overdue/expectationText.ts"
import { incidentIdOf } from "@tocsin/testing/records"
import type { ExpectationRecord } from "../../../src/heart/model/ExpectationRecord.ts"

const at = (time: string): Instant.Instant => Instant.fromMillis(Date.parse(`2026-03-01T${time}Z`))

/** A job of each hour that may take 10 minutes, expected since 00:00. */
const JOB: ExpectationRecord = {
  agent_id: AgentId.make("cron"),
  check_id: CheckId.make("backup"),
  registration_id: RegistrationId.make("01900000-0000-7000-8000-000000000000"),
  origin: "policy",
  terms: {
    after_millis: 7_200_000,
    every_millis: 3_600_000,
    grace_millis: 600_000,
    severity: "critical",
    notifications_enabled: true,
  },
  expected_from: at("00:00:00"),
  running_since: undefined,
  next_evaluation_at: undefined,
  incident_id: undefined,
  alone_due_at: undefined,
}
const RUNNING = { ...JOB, running_since: at("00:00:00") }
const LATE = { ...RUNNING, incident_id: incidentIdOf("late") }

it.each([
  [
    "a run in its time",
    RUNNING,
    undefined,
    "00:09:59",
    "It began 2026-03-01 00:00:00 UTC, and is to end by 2026-03-01 00:10:00 UTC.",
  ],
  [
    "a run beyond its time",
    RUNNING,
    undefined,
    "00:10:00",
    "It is late: began 2026-03-01 00:00:00 UTC and has not ended within 10m, expected by 2026-03-01 00:10:00 UTC.",
  ],
  [
    "a run that is late",
    LATE,
    "00:00:00",
    "09:00:00",
    "It is late: began 2026-03-01 00:00:00 UTC and has not ended within 10m, expected by 2026-03-01 00:10:00 UTC.",
  ],
  [
    "a check before its first report",
    JOB,
    undefined,
    "01:00:00",
    "It has not reported yet, and is due by 2026-03-01 02:00:00 UTC.",
  ],
  [
    "a check that never reported",
    JOB,
    undefined,
    "02:00:00",
    "It is late: never reported, expected by 2026-03-01 02:00:00 UTC.",
  ],
  ["a check in time", JOB, "01:30:00", "02:00:00", "It is due by 2026-03-01 03:30:00 UTC."],
  [
    "a check that has stopped",
    JOB,
    "01:30:00",
    "03:30:00",
    "It is late: nothing since 2026-03-01 01:30:00 UTC, expected by 2026-03-01 03:30:00 UTC.",
  ],
] as const)("%s is explained", (_, expectation, reported, now, expected) => {
  const reportedAt = reported === undefined ? undefined : at(reported)
  assert.strictEqual(expectationText(expectation, reportedAt, at(now)), expected)
})

it("says how often a check must report", () => {
  assert.strictEqual(termsText(JOB.terms), "It must report every 1h, and is late after 2h without a report.")
  const terms = { ...JOB.terms, cron: "0 3 * * *", tz: "Europe/Berlin" }
  assert.strictEqual(
    termsText(terms),
    "It must report at 0 3 * * * (Europe/Berlin), and is late 10m after each time.",
  )
})
