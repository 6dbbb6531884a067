import { assert } from "@effect/vitest"
import { resolveCheck } from "@tocsin/core/features/integrations/resolveCheck"
import { Effect } from "effect"
import { open, passes, sends, shown } from "./alertSender.ts"
import type { Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"

const LEASE = 240
const TEN_MINUTES = 600

/** An operator's result ends an alert until its sender reports it again. */
export const resolvesByHand = Effect.fnUntraced(function* (replica: Replica) {
  const site = yield* open(replica)
  const { commits, incidents } = replica
  const resolve = Effect.fnUntraced(function* (name: string) {
    const checks = yield* rowsOf(replica, "checks")
    const [check = assert.fail("no check")] = checks.filter(({ check_id }) => check_id.startsWith(`${name}.`))
    return yield* commits.transact(resolveCheck(check, incidents, signedBy("ann")))
  })
  yield* sends(site, "a:9090", ["Load", "Disk"], LEASE)
  assert.deepStrictEqual([yield* resolve("Load"), yield* resolve("Load")], [1, 0])
  assert.deepStrictEqual(yield* shown(site), { Load: "ok", Disk: "critical" })
  // Nothing expects it now.
  yield* passes(site, TEN_MINUTES)
  assert.deepStrictEqual(yield* shown(site), { Load: "ok", Disk: "critical as last heard" })
  assert.strictEqual(yield* resolve("Disk"), 1)
  assert.isTrue((yield* rowsOf(replica, "incidents")).every(({ state }) => state === "resolved"))
  const [last] = yield* rowsOf(replica, "audit")
  assert.deepStrictEqual([last?.action, last?.actor], ["check.resolved", "ann"])
  yield* sends(site, "a:9090", ["Load"], LEASE)
  assert.deepStrictEqual(yield* shown(site), { Load: "critical", Disk: "ok" })
  yield* passes(site, TEN_MINUTES)
  assert.deepStrictEqual(yield* shown(site), { Load: "critical as last heard", Disk: "ok" })
})
