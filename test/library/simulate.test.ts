import { assert, it } from "@effect/vitest"
import { type PolicyOption, simulate, TocsinError } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { collect, enroll, resultOf, send } from "./requests.ts"

it("simulate tells of a monitor's history what the monitor made of it", async () => {
  await using monitor = await createTestMonitor()
  await enroll(monitor, "a", "b")
  for (const status of ["critical", "ok", "warning"] as const) {
    await send(monitor, "a", resultOf(status))
    await monitor.advance("1m")
  }
  const { incidents, notifications, refused } = simulate(await collect(monitor.history.all()))
  assert.deepStrictEqual(refused, [])
  const shown = await collect(monitor.incidents.all({ sort: "opened_at", direction: "asc" }))
  assert.deepStrictEqual(
    incidents.map(({ id: _, timeline: _timeline, ...incident }) => incident),
    shown.map(({ id: _, ...incident }) => incident),
  )
  assert.deepStrictEqual(
    notifications.map(({ event_type, severity, summary }) => [event_type, severity, summary]),
    monitor.notifications.map(({ event_type, severity, summary }) => [event_type, severity, summary ?? null]),
  )
})

it("simulate refuses options that it cannot take, all at once, and knows notifiers by their names", () => {
  assert.throws(
    () => simulate([], { notifiers: ["The Pager"], deadAfter: 0, until: "tomorrow" }),
    TocsinError,
    /^notifiers must .*\ndeadAfter must .*\nuntil must /,
  )
  const line = {
    agent_id: "a",
    events: [resultOf("critical")],
    received_at: "2026-01-01T00:00:00Z",
  }
  const { notifications } = simulate([JSON.stringify(line)], { notifiers: ["pager"] })
  assert.deepStrictEqual(
    notifications.map(({ notifier }) => notifier),
    ["pager"],
  )
})

it("simulate follows a policy, and reads none of its secrets", () => {
  const line = (minute: string, status: "ok" | "critical") => ({
    agent_id: "a",
    events: [resultOf(status)],
    received_at: `2026-01-01T00:${minute}:00Z`,
  })
  const night = [line("00", "critical"), line("03", "ok"), line("10", "critical"), line("30", "ok")]
  const policy: PolicyOption = {
    receivers: {
      chat: { kind: "messenger", url_file: "/nowhere" },
      pager: { kind: "webhook", url_env: "NOWHERE", secret_env: "NOWHERE" },
    },
    routes: [{ after: "5m", steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }],
  }
  const { notifications, unsent = [] } = simulate(night, { policy })
  assert.deepStrictEqual(
    notifications.map(({ at, cause, held_by, receiver }) => [at.slice(11, 16), receiver, cause, held_by]),
    [
      ["00:15", "chat", "opened", ["after"]],
      ["00:25", "pager", "escalation", []],
      ["00:30", "chat", null, []],
      ["00:30", "pager", null, []],
    ],
  )
  assert.deepStrictEqual(
    unsent.map(({ reason, receiver }) => [receiver, reason]),
    [["chat", "resolved"]],
  )
  assert.throws(
    () => simulate(night, { policy: { routes: [{ to: ["chat"] }] } }),
    TocsinError,
    "policy.routes[0].to[0] names no receiver; the receivers are debug",
  )
})
