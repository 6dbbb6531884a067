import { assert, it } from "@effect/vitest"
import { simulate, TocsinError } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { collect, enroll, resultOf, send } from "./requests.ts"

it("simulate tells of a monitor's history what the monitor made of it", async () => {
  await using monitor = await createTestMonitor()
  await enroll(monitor, "a", "b")
  for (const status of ["critical", "ok", "warning"] as const) {
    await send(monitor, "a", resultOf(status))
    await monitor.advance("1 minute")
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
