import { assert, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { isHeld } from "@tocsin/core/heart/model/OutboxRecord"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { topic, type Topics } from "@tocsin/core/kernel/topics/Topics"
import { Duration, Effect, PubSub, Stream } from "effect"
import { enroll, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { documentOf, NAMES } from "./Pass.ts"

const A = AgentId.make("a")
const DEPENDENCY = { parent: ["check_id = uplink"], child: ["check_id = web"], equal: ["agent_id"] }

it.effect.each([
  { name: "announced", isAnnounced: true, holds: "2 minutes", freed: "20 seconds" },
  { name: "did not announce, since it died", isAnnounced: false, holds: "165 seconds", freed: "45 seconds" },
] as const)(
  "a process frees what it held once it notices that a parent ended, which another process $name",
  ({ freed, holds, isAnnounced }) =>
    Effect.gen(function* () {
      const changes = yield* PubSub.unbounded<Topics>()
      const { open, passes, rows } = yield* openService({
        notifiers: NAMES,
        deadAfter: Duration.days(365),
        clientOf: (storage) => ({ ...storage, remoteChanges: Stream.fromPubSub(changes) }),
      })
      const policy = compilePolicy(documentOf({ dependencies: [DEPENDENCY] }), NAMES)
      const start = (name: string) =>
        Effect.tap(open(name, { keepsHouse: true, reports: true }), (one) => one.policy.replace(policy))
      const [here, there] = [yield* start("here"), yield* start("there")]
      yield* enroll(here, A)
      yield* report(here, [{ check: "uplink", status: "critical" }], A)
      yield* passes("1 minute")
      yield* report(here, [{ check: "web", status: "critical" }], A)
      yield* passes("10 minutes")
      const held = () => Array.from(rows().outbox.values()).filter(isHeld).length
      assert.strictEqual(held(), NAMES.length)
      yield* report(there, [{ check: "uplink", status: "ok" }], A)
      there.faults.isUnreachable = true
      yield* Effect.forkChild(there.close)
      if (isAnnounced) PubSub.publishUnsafe(changes, topic("incidents"))
      yield* passes(holds)
      assert.strictEqual(held(), NAMES.length)
      yield* passes(freed)
      assert.strictEqual(held(), 0)
    }),
)
