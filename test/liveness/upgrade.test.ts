import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId, type IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { checksOf } from "@tocsin/core/kernel/model/CheckRef"
import { commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

/** The words of former versions. */
const FORMER = "no result since 03:00, expected by 04:00"

/** Leaves of what is stored what a former version has: no list, no stated severity, no opener that was late, its words. */
const becomeFormer = commandOf(function* (
  unit,
  ids: ReadonlyArray<CheckId>,
  incidents: ReadonlyArray<IncidentId>,
) {
  yield* load(unit, { agents: [AGENT], incidents })
  const agent = unit.agents.get(AGENT)
  if (agent === undefined) return assert.fail("no agent")
  const refs = checksOf(agent, ids)
  yield* load(unit, { rows: { expectation: refs } })
  for (const ref of refs) {
    const expectation = unit.expectations.get(ref)
    if (expectation === undefined) continue
    const { is_severity_stated: _, ...terms } = expectation.terms
    unit.expectations.put({ ...expectation, terms })
  }
  for (const id of incidents) {
    const incident = unit.incidents.get(id)
    if (incident !== undefined) unit.incidents.put({ ...incident, summary: FORMER })
  }
})

const EACH_MINUTE = { cron: "* * * * *", tz: "UTC", grace: "1s" }
/** As the agent declares them, which states no severity. */
const DECLARED = [
  { check_id: "late", every: "1m" },
  { check_id: "never", every: "1m" },
  { check_id: "job", ...EACH_MINUTE },
  { check_id: "fine", every: "4m", after: "20m" },
]
const CHECKS = [...DECLARED.map(({ check_id }) => check_id), "disk", "by-hand"].map((id) => CheckId.make(id))

const KEPT = {
  late: "late unknown",
  never: "late unknown",
  job: "late unknown",
  fine: "ok unknown",
  disk: "critical",
  "by-hand": "warning",
}

/** After each step, the state of each check, with its severity when late if it must report. */
const TABLE = {
  "a former server": KEPT,
  "the new server starts": KEPT,
  "the former agent declares the same": KEPT,
  "the new agent sends its list": KEPT,
  "ten minutes pass": { ...KEPT, fine: "late unknown" },
  "a former agent declares others": { ...KEPT, job: "late critical", fine: "ok", never: "gone" },
  "all report": {
    late: "ok unknown",
    job: "ok critical",
    fine: "ok",
    disk: "ok",
    "by-hand": "ok",
    never: "gone",
  },
} as const

describe("an upgrade", () => {
  it.effect("notifies nobody, and keeps what is late, expected and open as it is, until that changes", () =>
    Effect.gen(function* () {
      const timeline = yield* openTimeline({ deadAfter: Duration.days(1), process: { keepsHouse: true } })
      const { after, agent, incidents, isDownFor, service, webhook } = timeline
      const front = yield* service.open("second", { keepsHouse: false, delivers: false })
      const seen: Record<string, Readonly<Record<string, string>>> = {}
      const declare = Effect.fnUntraced(function* (checks: ReadonlyArray<object>, more: object = {}) {
        const request = Result.getOrThrow(decodeExpectationsRequest({ complete: true, checks, ...more }))
        yield* front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
        yield* settled
      })
      const alive = Effect.fnUntraced(function* (minutes: number) {
        for (let minute = 0; minute < minutes; minute++) {
          yield* agent().heartbeats
          yield* after("1 minute")
        }
      })
      const see = Effect.fnUntraced(function* (step: keyof typeof TABLE) {
        const { items } = yield* front.operations.expectedChecks({ is_overdue: false, limit: 100 })
        const late = yield* front.operations.expectedChecks({ is_overdue: true, limit: 100 })
        const all = new Map([...items, ...late.items].map((each) => [each.check_id, each]))
        seen[step] = Object.fromEntries(
          CHECKS.map((id) => {
            const { late_severity = null, state = "gone" } = all.get(id) ?? {}
            return [id, [state, late_severity].filter((word) => word !== null).join(" ")]
          }),
        )
      })

      yield* declare(DECLARED.map((each) => ({ ...each, severity: "unknown" })))
      yield* agent().reports(
        ...["late", "job", "fine"].map((check) => ({ check, status: "ok" as const })),
        { check: "disk", status: "critical" },
        { check: "by-hand", status: "warning" },
      )
      yield* alive(5)
      const open = Array.from(service.rows().incidents.values())
      yield* front.commits.transact(
        becomeFormer(
          CHECKS,
          open.map(({ id }) => id),
        ),
      )
      const sent = [
        "firing critical a/disk",
        "firing warning a/by-hand",
        "firing unknown a/job/@overdue",
        "firing unknown a/@overdue",
      ]
      const keys = ["a/disk", "a/@overdue", "a/job/@overdue", "a/by-hand"]
      yield* see("a former server")

      yield* isDownFor("20 seconds")
      yield* alive(2)
      yield* see("the new server starts")
      yield* declare(DECLARED)
      yield* alive(2)
      yield* see("the former agent declares the same")
      const as_of = Instant.format(yield* Instant.now)
      yield* declare([...DECLARED, { check_id: "disk" }], { as_of })
      yield* alive(5)
      yield* see("the new agent sends its list")
      yield* webhook.has(...sent)
      yield* incidents.areOpen(...keys)
      yield* alive(8)
      yield* see("ten minutes pass")
      yield* webhook.has(...sent)

      const others = [
        { check_id: "late", every: "1m" },
        { check_id: "job", ...EACH_MINUTE, grace: "2s" },
      ]
      yield* declare(others)
      yield* alive(2)
      yield* see("a former agent declares others")
      yield* agent().reports(
        ...CHECKS.filter((id) => id !== "never").map((check) => ({ check, status: "ok" as const })),
      )
      yield* after(Duration.seconds(5))
      yield* see("all report")
      yield* incidents.areOpen()
      assert.deepStrictEqual(seen, TABLE)
    }),
  )
})
