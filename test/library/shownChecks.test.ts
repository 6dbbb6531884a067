import { assert, it } from "@effect/vitest"
import { createTestMonitor } from "tocsin/testing"
import { AGENT, contradicting, walkCalls } from "../http/semantics/shownChecks.ts"
import { collect, enroll, heartbeatOf, keyOf, resultOf, send } from "./requests.ts"

it("every call of the library says which check is late, withdrawn or silenced", async () => {
  await using monitor = await createTestMonitor({ startAt: "2026-03-01T11:50:00.000Z" })
  await enroll(monitor, AGENT)
  const declare = (...checks: ReadonlyArray<{ readonly check_id: string; readonly every?: string }>) =>
    monitor.expectations(keyOf(AGENT), AGENT, { complete: true, as_of: monitor.now(), checks })
  const late = ["backup", "mild", "never"].map((check_id) => ({ check_id, every: "1m" }))
  const others = ["held", "load"].map((check_id) => ({ check_id }))
  const failing = { observed_at: monitor.now(), exit_code: 2 }
  await send(
    monitor,
    AGENT,
    ...["backup", "mild", "load"].map((check_id) => resultOf("ok", { ...failing, check_id })),
    ...["held", "gone"].map((check_id) => resultOf("critical", { ...failing, check_id })),
  )
  await declare(...late, ...others, { check_id: "gone" })
  await monitor.advance("1m")
  await declare(...late, ...others)
  const silence = await monitor.silences.create({
    matchers: [{ field: "check_id", op: "=", value: "held" }],
    for: "9h",
    comment: "known",
  })
  for (let minute = 0; minute < 12; minute += 1) {
    await monitor.advance("1m")
    await monitor.heartbeat(keyOf(AGENT), heartbeatOf(AGENT, { observed_at: monitor.now() }))
  }
  const hold = `silence:${"id" in silence ? silence.id : ""}`
  const [incident] = await collect(monitor.incidents.all())
  assert.isAbove(await walkCalls(monitor, incident?.id ?? "", hold), 10)
  const span = { from: "2026-03-01T00:00:00Z", to: "2026-03-02T00:00:00Z" }
  for (const kind of ["history", "incidents", "numbers"] as const)
    assert.deepStrictEqual(contradicting(await collect(monitor.export({ kind, ...span })), hold), [], kind)
})
