import { assert, describe, it } from "@effect/vitest"
import type { AuditEntry } from "@tocsin/client"
import { oneOfEach } from "../../src/state/auditActs.ts"

const row = (action: AuditEntry["action"], at: string, other: Partial<AuditEntry> = {}): AuditEntry => ({
  id: `${action} ${at}`,
  at: `2026-10-16T08:00:${at}.000000Z`,
  actor: "ada",
  via: "api",
  request_id: "deploy-1",
  action,
  subjects: [],
  parameters: {},
  ...other,
})

describe("acts of the audit", () => {
  it("are one row for one change of the policy", () => {
    const changed = row("receiver.changed", "01")
    const rows = [
      row("policy.replaced", "02"),
      row("secret.stored", "01"),
      row("policy.applied", "01"),
      changed,
    ]
    assert.deepStrictEqual(oneOfEach(rows), [changed])
  })

  it("are all shown where a client gives several requests one name, and where people share one", () => {
    const rows = [
      row("secret.removed", "03"),
      row("receiver.changed", "02"),
      row("policy.applied", "02", { actor: "grace" }),
    ]
    assert.deepStrictEqual(oneOfEach(rows), rows)
  })
})
