import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { keyOf } from "@tocsin/testing/samples"
import { Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

const RULES = {
  runbooks: [{ match: ["check_id = disk"], url: "https://wiki.example.org/disk", note: "Disks" }],
}
const OF_RULE = { url: "https://wiki.example.org/disk", note: "Disks" }
const OF_LABEL = { url: "https://wiki.example.org/load" }

describe("the runbook of a message", () => {
  it.effect("is in each attempt, in alerts that repeat and in the incident, and not in a resolved", () =>
    Effect.gen(function* () {
      const { after, agent, alertRouter, disk, process, service } = yield* openTimeline({
        notifiers: ["webhook", "alert_router"],
      })
      yield* process.policy.replace(
        compilePolicy(Result.getOrThrow(readPolicy(RULES, [])), ["webhook", "alert_router"]),
      )
      const { receivers } = service
      receivers.answerWith(deferred, { notifier: "webhook" })
      yield* disk.turns("warning")
      receivers.answerWith(delivered)
      yield* after("2 minutes")
      const ofFirings = () => receivers.attempts.map(({ notification }) => notification.runbook)
      assert.deepStrictEqual(ofFirings(), [OF_RULE, OF_RULE, OF_RULE])
      assert.deepStrictEqual(receivers.repeats.at(-1)?.alerts[0]?.runbook, OF_RULE)
      const [incident] = service.rows().incidents.values()
      const id = incident?.id ?? assert.fail("there is no incident")
      const shown = Effect.map(process.operations.incident(id), (detail) => toIncidentDetail(detail).runbook)
      assert.deepStrictEqual(yield* shown, OF_RULE)

      const declared = {
        check_id: CheckId.make("load"),
        labels: { runbook_url: OF_LABEL.url },
        notifications_enabled: true,
      }
      yield* process.ingest.expectations(keyOf(AGENT), {
        agent_id: AGENT,
        request: { complete: false, checks: [declared] },
      })
      const joined = { key: "web", check: "load", status: "critical" } as const
      yield* agent().reports(joined)
      assert.deepStrictEqual(ofFirings().slice(-2), [OF_LABEL, OF_LABEL])
      yield* agent().reports({ ...joined, status: "ok" })
      yield* alertRouter.has("firing warning a/disk", "firing critical web", "resolved critical web")
      assert.isUndefined(receivers.attempts.at(-1)?.notification.runbook)
      yield* disk.turns("ok")
      assert.isNull(yield* shown)
    }),
  )
})
