import { describe, expect, it } from "@effect/vitest"
import { SilenceId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { coversInForce } from "../../src/holds/coversInForce.ts"
import type { SilenceRecord } from "../../src/model/SilenceRecord.ts"
import { compilePolicy } from "../../src/policy/compilePolicy.ts"

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
    const covers = (silences: ReadonlyArray<SilenceRecord>, now = 1) =>
      coversInForce({ policy, silences, settling: undefined }, at(now))
    const first = covers([silence("disk")])
    expect(covers([silence("disk")], 2).find).toBe(first.find)
    const extended = covers([silence("disk", 200)])
    expect(extended.find).toBe(first.find)
    expect(extended.covers.map(({ until }) => until)).toEqual([at(200)])
    for (const changed of [[silence("load")], [], [silence("disk"), silence("load")]])
      expect(covers(changed).find).not.toBe(first.find)
    // The same id stands for other matchers in another storage.
    expect(covers([silence("load")]).find({ labels: {} })).toEqual([])
    expect(covers([silence("")]).find({ labels: {} })).toEqual([0])
  })
})
