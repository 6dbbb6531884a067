import { stripVTControlCharacters } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { simulate } from "@tocsin/simulation/simulate"
import { drawTimeline } from "@tocsin/server/output/timeline"

const at = (minutes: number): string =>
  Instant.format(Instant.fromMillis(1_769_848_200_000 + minutes * 60_000))
let made = 0
const result = (minutes: number, agent_id: string, check_id: string, status: string, more: object = {}) => {
  made += 1
  const event = {
    event_id: `01890a5d-ac96-774b-bcce-${made.toString(16).padStart(12, "0")}`,
    check_id,
    observed_at: at(minutes),
    status,
    exit_code: 1,
    duration_ms: 1,
    ...more,
  }
  return { agent_id, events: [event], received_at: at(minutes) }
}

const report = simulate(
  [
    result(0, "web-1", "disk", "ok"),
    result(10, "web-1", "disk", "warning"),
    result(20, "web-1", "disk", "critical"),
    result(40, "web-1", "disk", "ok"),
    result(30, "db", "up", "unknown", {
      incident_key: "the database",
    }),
    result(45, "db", "up", "ok", { notifications_enabled: false }),
    result(50, "web-2", "load", "warning", { notifications_enabled: false }),
    result(60, "web-1", "disk", "ok"),
  ],
  {},
)

describe("the timeline of a simulation", () => {
  it("is drawn in letters without a terminal", () => {
    const drawn = drawTimeline(report, { columns: undefined, hasColour: false })
    assert.strictEqual(
      drawn,
      [
        "              2026-01-31T08:30:00.000Z                                      2026-01-31T09:30:00.000Z",
        "web-1/disk    ..............WWWWWWWWWWWWWWCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC............................",
        "                            ^             ^                            v",
        "the database  ...........................................UUUUUUUUUUUUUUUUUUUUUU.....................",
        "                                                         ^",
        "web-2/load    .......................................................................WWWWWWWWWWWWWWW",
        "W warning, U unknown, C critical; ^ firing sent, v resolved sent, x both",
        "",
      ].join("\n"),
    )
  })

  it("is as wide as the terminal, in blocks and colours", () => {
    const drawn = drawTimeline(report, { columns: 50, hasColour: true })
    // The colours take no room.
    const plain = stripVTControlCharacters(drawn)
    assert.deepStrictEqual(plain.split("\n"), [
      "              2026-01-31T08:30Z  2026-01-31T09:30Z",
      "web-1/disk    ......▒▒▒▒▒▒█████████████...........",
      "                    ▲     ▲           ▼",
      "the database  ..................▓▓▓▓▓▓▓▓▓▓........",
      "                                ▲",
      "web-2/load    ..............................▒▒▒▒▒▒",
      "▒ warning, ▓ unknown, █ critical; ▲ firing sent, …",
      "",
    ])
    assert.include(drawn, `\u001B[31m${"█".repeat(13)}\u001B[0m`)
  })

  it("is nothing where there was no incident", () => {
    assert.strictEqual(drawTimeline({ ...report, incidents: [] }, { columns: 80, hasColour: false }), "")
  })
})
