import type { CheckStatus, Severity } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import type { Observation } from "./Action.ts"
import { changedFields } from "./changedFields.ts"
import { membersEver, moved, presentMembers, type Rows } from "../service/Rows.ts"
import { integer, oneOf } from "../properties/arbitraries.ts"
import { AGENTS, crowd, enrollment, KEYS, life, lifeByEvents, SIZE, type Step } from "./Scenario.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(120), size: SIZE, maxShrinks: 2_000 }

const afterEveryAction = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  holds: (rows: Rows, observed: Observation) => void,
) {
  const driven = yield* driveService()
  for (const observed of yield* driven.play([...enrollment, ...steps])) holds(observed.after, observed)
})

const openIncidents = (rows: Rows): ReadonlyArray<IncidentRecord> =>
  Array.from(rows.incidents.values()).filter((incident) => incident.state === "open")

const saysThatAgentIsDead = (incident: IncidentRecord): boolean =>
  incident.kind === "automatic" && incident.incident_key.endsWith("/@heartbeat")

const nameOf = ({ agent_id, check_id }: Pick<MemberRecord, "agent_id" | "check_id">): string =>
  `${agent_id}/${check_id}`

describe("of the incidents of one key", () => {
  const arrangesKeys = (rows: Rows): void => {
    const open = openIncidents(rows).map(({ kind, incident_key }) => `${kind}/${incident_key}`)
    assert.strictEqual(new Set(open).size, open.length)
    for (const { id, kind, incident_key } of rows.incidents.values()) {
      const members = membersEver(rows, id).map(nameOf)
      if (kind === "automatic") assert.deepStrictEqual(members, [incident_key])
    }
  }

  it.effect.prop(
    "at most one is open, and an automatic key differs from an equal explicit key",
    { steps: life },
    ({ steps }) => afterEveryAction(steps, arrangesKeys),
    { arbitrary },
  )
})

describe("an incident", () => {
  const followsItsMembers = (rows: Rows): void => {
    for (const incident of rows.incidents.values()) {
      const present = presentMembers(rows, incident.id)
      const count = (severity: Severity) => present.filter((member) => member.severity === severity).length
      assert.strictEqual(incident.state, present.length > 0 ? "open" : "resolved")
      assert.strictEqual(incident.resolved_at !== undefined, present.length === 0)
      assert.deepStrictEqual(
        [incident.members_warning, incident.members_unknown, incident.members_critical],
        [count("warning"), count("unknown"), count("critical")],
      )
    }
  }

  it.effect.prop(
    "is open while a member is not ok, and counts its members",
    { steps: life },
    ({ steps }) => afterEveryAction(steps, followsItsMembers),
    { arbitrary },
  )

  const WORST_FIRST: ReadonlyArray<Severity> = ["critical", "unknown", "warning"]

  const showsItsWorstMember = (rows: Rows): void => {
    for (const incident of openIncidents(rows)) {
      const present = presentMembers(rows, incident.id)
      const severity = WORST_FIRST.find((one) => present.some((member) => member.severity === one))
      assert.strictEqual(incident.severity, severity)
      const worst = present.filter((member) => member.severity === severity)
      const latest = Math.max(...worst.map((member) => member.change_seq))
      const [speaker, ...others] = worst.filter((member) => member.change_seq === latest)
      assert.isDefined(speaker)
      assert.lengthOf(others, 0)
      const [single, ...more] = present
      const only = more.length === 0 ? single : undefined
      assert.deepStrictEqual([incident.agent_id, incident.check_id], [only?.agent_id, only?.check_id])
      if (saysThatAgentIsDead(incident)) continue
      const lines = rows.checks.get(nameOf(speaker))?.summary?.split(/\r|\n/) ?? []
      const firstLine = lines.find((line) => line.trim() !== "")?.trim() ?? ""
      assert.strictEqual(incident.summary ?? "", Array.from(firstLine).slice(0, 512).join(""))
      assert.notStrictEqual(incident.summary, "")
    }
  }

  it.effect.prop(
    "shows the severity and first line of its most severe, most recent member, and names its only member",
    { steps: life },
    ({ steps }) => afterEveryAction(steps, showsItsWorstMember),
    { arbitrary },
  )

  it.effect.prop(
    "shows them with many members",
    { steps: crowd },
    ({ steps }) => afterEveryAction(steps, showsItsWorstMember),
    { arbitrary: { ...arbitrary, runs: propertyRuns(40) } },
  )

  it.effect.prop(
    "finds that member at any rank when all above it improve in one batch",
    {
      older: integer(1, 40),
      recent: integer(8, 20),
      fates: Arbitrary.array(oneOf("warning", "ok"), { minLength: 1, maxLength: 20 }),
    },
    ({ older, recent, fates }) => {
      const report = (checks: ReadonlyArray<string>, statusOf: (at: number) => CheckStatus): Step => ({
        step: "batch",
        agent_id: AGENTS[0],
        key: KEYS[0],
        events: checks.map((check_id, at) => ({
          id: "new",
          check_id,
          lagSeconds: 0,
          status: statusOf(at),
          exit_code: 0,
          output: `${check_id} is ${statusOf(at)}`,
          notifications_enabled: true,
          incident_key: "shared",
        })),
      })
      const named = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}-${at}`)
      const steps = [
        report(named("older", older), () => "critical"),
        report(named("recent", recent), () => "critical"),
        report(named("recent", recent), (at) => fates[at % fates.length] ?? "ok"),
      ]
      return afterEveryAction(steps, showsItsWorstMember)
    },
    { arbitrary },
  )

  it.effect.prop(
    "never changes once it is resolved, and keeps its last summary",
    { steps: lifeByEvents },
    ({ steps }) =>
      afterEveryAction(steps, (_, { action, before, after }) => {
        for (const { before: was, after: is } of moved(before.incidents, after.incidents)) {
          assert.notStrictEqual(was?.state, "resolved")
          // An agent that is removed may take several members with it, one by one.
          const tookSeveral =
            action.action !== "events" && was !== undefined && presentMembers(before, was.id).length > 1
          if (is?.state !== "resolved" || was === undefined) continue
          assert.strictEqual(is.severity, was.severity)
          assert.strictEqual(is.summary, was.summary)
          if (!tookSeveral) assert.deepStrictEqual([is.agent_id, is.check_id], [was.agent_id, was.check_id])
        }
      }),
    { arbitrary },
  )

  const tellsItsStory = (rows: Rows): void => {
    for (const incident of rows.incidents.values()) {
      const scenario = rows.scenarios.filter((line) => line.incident_id === incident.id)
      assert.deepStrictEqual(
        scenario.map((line) => line.seq),
        Array.from({ length: incident.member_changes }, (_, at) => at + 1),
      )
      const told = new Map<string, (typeof scenario)[number]>()
      for (const line of scenario) {
        const former = told.get(nameOf(line))
        const isIn = former !== undefined && former.change !== "left"
        const isWorse = isIn && WORST_FIRST.indexOf(line.severity) < WORST_FIRST.indexOf(former.severity)
        if (line.change !== "left")
          assert.strictEqual(line.change, isIn ? (isWorse ? "worsened" : "improved") : "joined")
        told.set(nameOf(line), line)
      }
      const members = Array.from(told.values()).flatMap((line) =>
        line.change === "left" ? [] : `${nameOf(line)} ${line.severity}`,
      )
      assert.sameMembers(
        members,
        presentMembers(rows, incident.id).map((member) => `${nameOf(member)} ${member.severity}`),
      )
      const severity = incident.state === "open" ? incident.severity : undefined
      assert.strictEqual(scenario.at(-1)?.incident_severity, severity)
    }
  }

  it.effect.prop(
    "has a scenario that lists every change of its members",
    { steps: life },
    ({ steps }) => afterEveryAction(steps, tellsItsStory),
    { arbitrary },
  )

  it.effect("has a scenario in which a member worsens below its severity", () => {
    const reported = (check_id: string, status: CheckStatus): Step => ({
      step: "batch",
      agent_id: AGENTS[0],
      key: KEYS[0],
      events: [
        {
          id: "new",
          check_id,
          lagSeconds: 0,
          status,
          exit_code: 0,
          output: `${check_id} is ${status}`,
          notifications_enabled: true,
          incident_key: "shared",
        },
      ],
    })
    const steps = [reported("disk", "critical"), reported("load", "warning"), reported("load", "unknown")]
    return afterEveryAction([...steps, reported("load", "warning"), reported("disk", "ok")], tellsItsStory)
  })
})

describe("a check", () => {
  const belongsWhereItShould = (rows: Rows): void => {
    for (const check of rows.checks.values()) {
      const memberships = openIncidents(rows).flatMap((incident) =>
        presentMembers(rows, incident.id)
          .filter((member) => nameOf(member) === nameOf(check))
          .map(({ severity }) => ({
            id: incident.id,
            kind: incident.kind,
            key: incident.incident_key,
            severity,
          })),
      )
      const kind = check.incident_key === undefined ? "automatic" : "named"
      const key = check.incident_key ?? nameOf(check)
      const own = { id: check.incident_id, kind, key, severity: check.status }
      assert.deepStrictEqual<ReadonlyArray<unknown>>(memberships, check.status === "ok" ? [] : [own])
      if (check.status === "ok") assert.isUndefined(check.incident_id)
    }
    for (const incident of openIncidents(rows)) {
      if (saysThatAgentIsDead(incident)) continue
      for (const member of presentMembers(rows, incident.id)) assert.isTrue(rows.checks.has(nameOf(member)))
    }
  }

  it.effect.prop(
    "is a member of the incident of its key while it is not ok, and of no other",
    { steps: life },
    ({ steps }) => afterEveryAction(steps, belongsWhereItShould),
    { arbitrary },
  )

  it.effect.prop(
    "stays where it is while its status does",
    { steps: lifeByEvents },
    ({ steps }) =>
      afterEveryAction(steps, (_, { action, before, after }) => {
        if (action.action !== "events" || before.agents.get(action.request.agent_id)?.heartbeat_incident_id)
          return
        const check = `${action.request.agent_id}/${action.request.events[0]?.check_id}`
        if (before.checks.get(check)?.status !== after.checks.get(check)?.status) return
        const kinds = changedFields(before, after).filter(
          (field) => !/^(agent|check)\.|^history$/.test(field),
        )
        assert.includeMembers(["incident.summary", "member.summary"], kinds)
        assert.strictEqual(after.checks.get(check)?.incident_id, before.checks.get(check)?.incident_id)
        assert.strictEqual(after.checks.get(check)?.incident_key, before.checks.get(check)?.incident_key)
      }),
    { arbitrary },
  )
})
