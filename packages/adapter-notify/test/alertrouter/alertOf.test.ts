import { assert, describe, it } from "@effect/vitest"
import { alertOf, firingUntil } from "../../src/alertrouter/alertRouter.ts"
import { at, firing, shared, silence } from "../notifications.ts"

const later = at("2026-01-31T08:35:00Z")

describe("an alert", () => {
  it("is known by its opener, key, severity and source", () => {
    assert.deepStrictEqual(alertOf(shared, later).labels, {
      alertname: "disk",
      severity: "warning",
      agent_id: "web-1",
      check_id: "disk",
      incident_key: "storage <rack 4> & others",
      source: "tocsin",
    })
  })

  it("keeps its labels while members come and go", () => {
    const { labels } = alertOf(firing, later)
    const changed = {
      ...firing,
      summary: "other words",
      incident: { ...firing.incident, agent_id: undefined, check_id: undefined, members: 9 },
    }
    assert.deepStrictEqual(alertOf(changed, later).labels, labels)
  })

  it("is annotated with what may change", () => {
    assert.deepStrictEqual(alertOf(shared, later).annotations, {
      summary: "/var is 97 % full",
      where: "storage <rack 4> & others",
      members: "5",
      incident_id: shared.incident.id,
    })
    assert.strictEqual(
      alertOf({ ...firing, summary: undefined }, later).annotations["summary"],
      "web-1/disk is critical",
    )
  })

  it("of a silent agent names no check", () => {
    assert.deepStrictEqual(alertOf(silence, later).labels, {
      alertname: "AgentDead",
      severity: "critical",
      agent_id: "web-1",
      incident_key: "web-1/@heartbeat",
      source: "tocsin",
    })
  })

  it("starts when the incident opened", () => {
    const { startsAt, endsAt } = alertOf(firing, later)
    assert.strictEqual(startsAt, firing.incident.opened_at)
    assert.strictEqual(endsAt, later)
  })

  it("of an incident that opened while the clock was ahead starts at its end", () => {
    const end = at("2026-01-31T08:00:00Z")
    const { startsAt, endsAt } = alertOf(firing, end)
    assert.deepStrictEqual([startsAt, endsAt], [end, end])
  })

  it("that fires does so for four minutes more", () => {
    assert.strictEqual(firingUntil(later), at("2026-01-31T08:39:00Z"))
  })
})
