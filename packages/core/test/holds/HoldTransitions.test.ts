import { describe, expect, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/policy/readPolicy"
import { ackColumns, NOT_ACKNOWLEDGED } from "@tocsin/core/model/Acknowledgement"
import { SilenceId } from "@tocsin/contract/Identifiers"
import { activeMutes } from "@tocsin/core/holds/activeMutes"
import { firingHolds } from "@tocsin/core/holds/firingHolds"
import { mutingHolds } from "@tocsin/core/holds/computeHolds"
import { HoldTransitions } from "@tocsin/core/model/HoldTransitions"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import type { OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import { parseMatcher } from "@tocsin/contract/Matcher"
import type { SilenceRecord } from "@tocsin/core/model/SilenceRecord"
import { after } from "@tocsin/testing/outboxItems"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { agentRecord, incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { Duration, Result } from "effect"
import * as fc from "fast-check"

type Trigger = (typeof HoldTransitions)[number]["trigger"]

/** An incident with one firing, and everything that may hold it. Times are minutes. */
interface World {
  readonly now: number
  readonly incident: IncidentRecord
  readonly item: OutboxRecord
  readonly after: number
  readonly silences: ReadonlyArray<SilenceRecord>
  readonly members: ReadonlyArray<string>
}

/** What happens to it, and by which triggers of the table that may begin or end holds. */
interface Step {
  readonly triggers: ReadonlyArray<Trigger>
  readonly to: (world: World) => Partial<World>
}

const minute = (minutes: number) => after(minutes * 60)
const policy = compilePolicy(
  Result.getOrThrow(
    readPolicy(
      { windows: [{ name: "w", cron: "*/9 * * * *", tz: "UTC", for: "4m", match: ["agent_id glob a*"] }] },
      [],
    ),
  ),
  [],
)

const few = fc.integer({ min: 1, max: 6 })
const severity = fc.constantFrom<IncidentRecord["severity"]>("warning", "unknown", "critical")
const stepOf = <A>(
  drawn: fc.Arbitrary<A>,
  triggers: ReadonlyArray<Trigger>,
  to: (world: World, drawn: A) => Partial<World>,
): fc.Arbitrary<Step> => drawn.map((value) => ({ triggers, to: (world) => to(world, value) }))

const PASSING = ["acknowledgement_ended", "after_passed", "mute_began", "mute_ended"] as const

const common: fc.Arbitrary<Step> = fc.oneof(
  stepOf(few, PASSING, ({ now }, minutes) => ({ now: now + minutes })),
  stepOf(few, ["acknowledged"], ({ incident, now }, minutes) => {
    const times = { at: minute(now), until: minute(now + minutes) }
    const acknowledgement = { by: "eva", note: undefined, severity: incident.severity, ...times }
    return { incident: { ...incident, ...ackColumns(acknowledgement) } }
  }),
  stepOf(fc.constant(0), ["acknowledgement_ended"], ({ incident }) => ({
    incident: { ...incident, ...NOT_ACKNOWLEDGED },
  })),
  // A loud event: what worsens beyond an acknowledgement ends it, and has a firing of its own.
  stepOf(severity, ["acknowledgement_ended", "member_changed"], ({ incident, item }, drawn) => {
    const isAbove = (than: IncidentRecord["severity"] | undefined) =>
      than !== undefined && SEVERITY_RANK[drawn] > SEVERITY_RANK[than]
    const acknowledgement = isAbove(incident.ack_severity) ? NOT_ACKNOWLEDGED : {}
    return {
      incident: { ...incident, ...acknowledgement, severity: drawn },
      item: isAbove(item.severity) ? { ...item, severity: drawn } : item,
    }
  }),
  stepOf(fc.subarray(["a", "a-2", "b"]), ["member_changed"], (_, members) => ({ members })),
  stepOf(fc.constantFrom(0, 1, 5), ["routed"], ({ now }, minutes) => ({ after: now + minutes })),
  stepOf(
    fc.record({
      match: fc.constantFrom("agent_id = a", "agent_id glob *", "severity = warning"),
      from: fc.constantFrom(0, 0, 2),
      lasts: few,
    }),
    ["mute_began"],
    ({ now, silences }, { from, lasts, match }) => ({
      silences: [...silences, silence(now + from, lasts, match)],
    }),
  ),
  stepOf(fc.nat({ max: 5 }), ["mute_ended"], ({ now, silences }, which) => ({
    silences: silences.map((one, at) => (at === which ? { ...one, ends_at: minute(now) } : one)),
  })),
)

/** After these, nothing holds the firing again. */
const last: fc.Arbitrary<Step> = fc.oneof(
  stepOf(fc.constant(0), ["released"], ({ item, now }) => ({ item: { ...item, released_at: minute(now) } })),
  stepOf(fc.constant(0), ["incident_resolved"], ({ incident, item }) => ({
    incident: { ...incident, ...NOT_ACKNOWLEDGED, state: "resolved" },
    item: { ...item, state: "discarded" },
  })),
)

const step = fc.oneof({ weight: 15, arbitrary: common }, { weight: 1, arbitrary: last })

let silences = 0
const silence = (from: number, lasts: number, match: string): SilenceRecord => ({
  id: SilenceId.make(uuidV7(0n, `silence ${silences++}`)),
  matchers: [Result.getOrThrow(parseMatcher(match))],
  starts_at: minute(from),
  ends_at: minute(from + lasts),
  comment: "c",
  created_by: "eva",
  created_at: minute(0),
})

const START: World = {
  now: 0,
  incident: incidentRecord("k"),
  item: outboxRecord("item", "k"),
  after: 0,
  silences: [],
  members: ["a"],
}

/** The state of each hold that is in force, by its name. */
const statesOf = ({ incident, item, members, now, ...world }: World) => {
  const at = minute(now)
  const inForce = world.silences.filter(({ ends_at, starts_at }) => starts_at <= at && at < ends_at)
  const { incident_key, severity } = incident
  const context = {
    after: Duration.minutes(world.after),
    grace: undefined,
    covering: mutingHolds({
      mutes: activeMutes({ policy, silences: inForce, grace: undefined }, at),
      loud: {
        kind: "listed",
        members: members.map((name) => ({ agent_id: agentRecord(name).agent_id, incident_key, severity })),
      },
    }),
  } as const
  const holds = firingHolds(incident, item, context, at)
  return new Map(holds.map(({ by }) => [by, by === "ack" || by === "after" ? by : "mute"]))
}

/** The rows of the table that explain what a step did; `undefined` where none does. */
const rowsOf = (before: World, { to, triggers }: Step) => {
  const world: World = { ...before, ...to(before) }
  const [was, is] = [statesOf(before), statesOf(world)]
  const rows = Array.from(new Set([...was.keys(), ...is.keys()]), (by) => {
    const moved = { from: was.get(by) ?? "absent", to: is.get(by) ?? "absent" }
    const row = HoldTransitions.find(
      ({ from, to, trigger }) => from === moved.from && to === moved.to && triggers.includes(trigger),
    )
    return { moved, row }
  })
  return { world, rows }
}

describe("the holds on a firing", () => {
  it("do not come from a silence whose matchers could not be read", () => {
    const readable = silence(0, 10, "agent_id=a")
    const holdsWith = (one: SilenceRecord) => statesOf({ ...START, silences: [one] }).has(`silence:${one.id}`)
    expect([holdsWith(readable), holdsWith({ ...readable, matchers: [] })]).toEqual([true, false])
  })

  it("begin and end as their table states, and every row of it happens", () => {
    const happened = new Set<unknown>()
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let world = START
        for (const one of steps) {
          const { rows, world: next } = rowsOf(world, one)
          for (const { moved, row } of rows) {
            const isExplained = row !== undefined || moved.from === moved.to
            expect(isExplained, `${one.triggers.join()}: ${moved.from} to ${moved.to}`).toBe(true)
            happened.add(row)
          }
          world = next
        }
      }),
      { numRuns: Math.max(300, propertyRuns(300)) },
    )
    expect(HoldTransitions.filter((row) => !happened.has(row))).toEqual([])
  })
})
