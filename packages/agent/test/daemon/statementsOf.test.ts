import { assert, describe, it } from "@effect/vitest"
import { ExpectationsRequest } from "@tocsin/contract/overdue/Expectations"
import { Schema } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readConfig } from "../../src/config/readConfig.ts"
import { statementsOf } from "../../src/daemon/statementsOf.ts"

/** The declaration of a configuration with these checks, as the server reads it. */
const declared = (checks: string, ...jobs: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  const file = join(folder, "config.yaml")
  writeFileSync(file, `server: http://a\nagent_id: a\nchecks:\n  ${checks}\n`)
  const { config, problems } = readConfig(file)
  rmSync(folder, { recursive: true })
  assert.deepStrictEqual(problems, [])
  if (config === undefined) return []
  const expected = statementsOf(config, new Set(jobs)).expected ?? []
  Schema.decodeUnknownSync(ExpectationsRequest)({ complete: true, checks: expected })
  return expected
}

describe("a declaration", () => {
  it.each<[string, object]>([
    ["web: { shell: x }", { check_id: "web", every: "1m" }],
    ["web: { shell: x, every: 1s }", { check_id: "web", every: "10s" }],
    [
      "web: { shell: x, every: 5m, grace: 10m, severity: critical }",
      { check_id: "web", every: "5m", after: "15m", severity: "critical" },
    ],
    ["web: { shell: x, labels: { team: db } }", { check_id: "web", every: "1m", labels: { team: "db" } }],
    [
      "job: { report_only: true, every: 1h, labels: { team: db } }",
      { check_id: "job", every: "1h", labels: { team: "db" } },
    ],
    // A server with default settings refuses less than 150 s.
    ["web: { shell: x, every: 30s, grace: 10s }", { check_id: "web", every: "30s", after: "150s" }],
    // An unconfirmed change is not reported: four more runs, every ten seconds.
    ["web: { shell: x, confirm: { bad: 5 } }", { check_id: "web", every: "100s" }],
    ["web: { shell: x, confirm: { good: 3, every: 1h } }", { check_id: "web", every: "3m" }],
    [
      "job: { report_only: true, cron: '0 3 * * *', tz: UTC, grace: 2h, notifications_enabled: false }",
      { check_id: "job", cron: "0 3 * * *", tz: "UTC", grace: "2h", notifications_enabled: false },
    ],
  ])("of %s is %j", (checks, expected) => {
    assert.deepStrictEqual(declared(checks), [expected, { check_id: "tocsin-agent", every: "1m" }])
  })

  it.each<[string, string | undefined]>([
    ["{ report_only: true, every: 1h }", "own"],
    ["{ report_only: true, every: 1h, incident: own }", "own"],
    ["{ report_only: true, every: 1h, incident: agent }", undefined],
    ["{ report_only: true, cron: '0 3 * * *', tz: UTC }", undefined],
    ["{ report_only: true, cron: '0 3 * * *', tz: UTC, incident: own }", undefined],
    ["{ report_only: true, cron: '0 3 * * *', tz: UTC, incident: agent }", "agent"],
    ["{ shell: x }", undefined],
    ["{ shell: x, incident: own }", "own"],
  ])("of the job %s states the incident %s, where the server's default is another", (check, incident) => {
    const [job] = declared(`job: ${check}`, "job")
    assert.strictEqual(Object(job).incident, incident)
    const [other] = declared("other: { report_only: true }", "job")
    assert.notProperty(other, "incident")
  })
})
