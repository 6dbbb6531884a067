import { describe, expect, it } from "@effect/vitest"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Schema } from "effect"
import { activeMutes, quietReceivers } from "../../../src/heart/firings/mutes.ts"
import type { SilenceRecord } from "../../../src/heart/model/SilenceRecord.ts"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"

const at = (seconds: number) => Instant.fromMillis(seconds * 1_000)

/** A silence as storages read it: another object each time. */
const silence = (value: string, until = 100): SilenceRecord => ({
  id: SilenceId.make("019a0000-0000-7000-8000-000000000001"),
  matchers: [{ field: "check_id", op: "=", value }],
  starts_at: at(0),
  ends_at: at(until),
  comment: "new disks",
  created_by: "eva",
  created_at: at(0),
})

describe("the covers in force", () => {
  it("are compiled once until they change", () => {
    const policy = compilePolicy({}, [])
    const mutes = (silences: ReadonlyArray<SilenceRecord>, now = 1) => activeMutes(policy, silences, at(now))
    const first = mutes([silence("disk")])
    expect(mutes([silence("disk")], 2).find).toBe(first.find)
    const extended = mutes([silence("disk", 200)])
    expect(extended.find).toBe(first.find)
    expect(extended.mutes.map(({ until }) => until)).toEqual([at(200)])
    for (const changed of [
      [silence("load")],
      [],
      [silence("disk"), silence("load")],
      [{ ...silence("disk"), matchers: [{ field: "check_id", op: "!=", value: "disk" }] as const }],
    ]) {
      const before = mutes([silence("disk")]).find
      expect(mutes(changed).find).not.toBe(before)
    }
    // The row of a silence without matchers is damaged: it covers nothing.
    expect(mutes([{ ...silence("disk"), matchers: [] }]).mutes).toEqual([])
    // The same id stands for other matchers in another storage.
    expect(mutes([silence("load")]).find({ labels: {} })).toEqual([])
    expect(mutes([silence("")]).find({ labels: {} })).toEqual([0])
  })
})

describe("quiet hours", () => {
  const chat = {
    kind: "debug",
    quiet: { hours: "00:00-06:00", tz: "UTC", below: "critical" },
  } as const
  const windows = [{ name: "nightly", cron: "0 2 * * *", tz: "UTC", for: "30m", match: ["check_id = disk"] }]
  const lookAgainAt = (steps: ReadonlyArray<{ readonly to: ReadonlyArray<string> }>) => {
    const policy = Schema.decodeUnknownSync(PolicyDocument)({
      receivers: { chat },
      routes: [{ steps }],
      windows,
    })
    return quietReceivers(compilePolicy(policy, []), at(3_600)).get(NotifierName.make("chat"))?.lookAgainAt
  }

  it("are looked at again when a window begins, where that can move a later step", () => {
    expect(lookAgainAt([{ to: ["chat"] }])).toBeUndefined()
    expect(lookAgainAt([{ to: ["chat"] }, { to: ["chat"] }])).toEqual(at(7_200))
  })
})
