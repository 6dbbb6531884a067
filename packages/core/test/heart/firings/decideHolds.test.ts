import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Duration } from "effect"
import { decideHolds, retryHolds } from "../../../src/heart/firings/decideHolds.ts"
import { NO_PARENTS } from "../../../src/heart/firings/parents.ts"

const until = Instant.plus(start, Duration.hours(1))

describe("an acknowledgement at warning (docs/rules.md#acknowledgements)", () => {
  it.each([
    ["holds what is announced at warning", "warning", "warning", "ack"],
    ["holds after a silent worsening, which announces nothing", "critical", "warning", "ack"],
    ["holds nothing that is announced as worse", "critical", "critical", ""],
    ["holds nothing that was announced as worse and improved", "warning", "critical", ""],
  ] as const)("%s", (_, severity, announced, by) => {
    const acknowledged = { ack_by: "eva", ack_at: start, ack_until: until, ack_severity: "warning" } as const
    const incident = incidentRecord("i", { severity, announced, ...acknowledged })
    const facts = { incident, covering: [], parents: NO_PARENTS, quiet: new Map() }
    const { inForce } = decideHolds(facts, { receivers: ["debug"] }, start)
    assert.strictEqual(inForce.map((hold) => hold.by).join(), by)
    const attempted = outboxRecord("o", "i", { state: "retry", first_attempted_at: start, attempts: 1 })
    const retries = retryHolds(incident, attempted, start)
    assert.strictEqual(retries.map((hold) => hold.by).join(), by)
  })
})
