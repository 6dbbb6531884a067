import { assert, describe, it } from "@effect/vitest"
import { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Resolution } from "../../../src/heart/model/IncidentRecord.ts"
import { toResolution } from "../../../src/heart/notifications/resolutionText.ts"

const opened_at = Instant.parse("2026-01-31T08:30:00Z") ?? assert.fail()
const resolved_at = Instant.parse("2026-01-31T09:35:07Z") ?? assert.fail()

const WAYS: ReadonlyArray<readonly [Resolution, text: string]> = [
  [{ reason: "recovered", now: "41 GiB" }, "ok again after 1 h 5 min"],
  [{ reason: "reported", status: "critical", now: "disk is full" }, "reported critical after 1 h 5 min"],
  [{ reason: "deleted", by: "ann" }, "deleted by ann"],
  [{ reason: "deleted", by: "ann", of: "agent" }, "agent deleted by ann"],
  [{ reason: "resolved", by: "ann" }, "resolved by ann"],
  [{ reason: "withdrawn", of: "check" }, "no longer checked"],
  [{ reason: "withdrawn" }, "no longer expected"],
  [{ reason: "moved", to: IncidentKey.make("shop") }, "moved to shop"],
]

describe("how an incident ended, in the API of operators", () => {
  it("is the line of its message, with its reason and who did it", () => {
    for (const [resolution, text] of WAYS)
      assert.deepStrictEqual(toResolution({ opened_at, resolved_at, resolution }), {
        reason: resolution.reason,
        ...("by" in resolution && { by: "ann" }),
        text,
      })
  })

  it("is null while it is open, and where an earlier version resolved it", () => {
    assert.isNull(toResolution({ opened_at, resolved_at: undefined, resolution: undefined }))
    assert.isNull(toResolution({ opened_at, resolved_at, resolution: undefined }))
  })
})
