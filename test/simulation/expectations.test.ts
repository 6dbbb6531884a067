import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { simulate } from "@tocsin/simulation/simulate"
import { SimulationReport, type SimulationSettings } from "@tocsin/simulation/SimulationReport"
import { Schema } from "effect"

/** Seconds after 08:00. */
const at = (seconds: number): string =>
  Instant.format(Instant.fromMillis(1_769_846_400_000 + seconds * 1_000))

const result = (seconds: number, status: "ok" | "critical", check_id = "disk") => ({
  received_at: at(seconds),
  agent_id: "web-1",
  events: [
    {
      event_id: `01890a5d-ac96-774b-bcce-${(seconds * 100 + check_id.length).toString(16).padStart(12, "0")}`,
      check_id,
      observed_at: at(seconds),
      status,
      exit_code: status === "ok" ? 0 : 2,
      duration_ms: 1,
    },
  ],
})

const policy = Schema.decodeUnknownSync(PolicyDocument)({
  routes: [{ steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }], remind: "1h" }],
})

const run = (lines: ReadonlyArray<object>, settings: SimulationSettings = {}) =>
  Schema.encodeSync(SimulationReport)(simulate(lines, { notifiers: ["chat", "pager"], policy, ...settings }))

/** The line, the span in seconds after 08:00, the count, and the judgement of each expectation. */
const judged = ({ expectations = [] }: ReturnType<typeof run>) =>
  expectations.map(({ line, from, until, messages, holds }) => [
    line,
    (Date.parse(from) - Date.parse(at(0))) / 1_000,
    (Date.parse(until) - Date.parse(at(0))) / 1_000,
    messages,
    holds,
  ])

describe("an expectation of a story", () => {
  it("holds where the receiver gets a message from its time on, within 15 s unless it says otherwise", () => {
    const report = run([
      result(0, "critical"),
      { received_at: at(0), expect: { receiver: "chat" } },
      { received_at: at(0), expect: { receiver: "pager" } },
      { received_at: at(0), expect: { receiver: "pager", within: "15m" } },
      { received_at: at(900), expect: { receiver: "pager", event: "firing", cause: "escalation" } },
      { received_at: at(901), expect: { receiver: "pager" } },
    ])
    assert.deepStrictEqual(judged(report), [
      [2, 0, 15, 1, true],
      [3, 0, 15, 0, false],
      [4, 0, 900, 1, true],
      [5, 900, 915, 1, true],
      [6, 901, 916, 0, false],
    ])
    assert.deepStrictEqual(report.refused, [])
  })

  it("narrows the messages by event, cause and the incident's key", () => {
    const expect = { receiver: "chat", within: "1m" }
    const report = run([
      result(0, "critical"),
      result(1, "critical", "load"),
      result(30, "ok"),
      { received_at: at(0), expect },
      { received_at: at(0), expect: { ...expect, event: "resolved" } },
      { received_at: at(0), expect: { ...expect, cause: "opened" } },
      { received_at: at(0), expect: { ...expect, cause: "reminder" } },
      { received_at: at(0), incident_key: "web-1/disk", expect },
      { received_at: at(0), incident_key: "web-1/load", expect: { ...expect, event: "resolved" } },
    ])
    assert.deepStrictEqual(
      judged(report).map(([, , , messages]) => messages),
      [3, 1, 2, 0, 2, 0],
    )
  })

  it("of no message, or of at most some, is about the time until the end of the story", () => {
    const chat = { receiver: "chat" }
    const report = run([
      result(0, "critical"),
      { received_at: at(0), expect_none: { receiver: "pager", within: "14m" } },
      { received_at: at(0), expect_none: { receiver: "pager" } },
      { received_at: at(0), expect_at_most: { ...chat, cause: "reminder", count: 1 } },
      { received_at: at(0), expect_at_most: { ...chat, count: 1 } },
      { received_at: at(0), expect_at_most: { ...chat, count: 1, within: "1m" } },
      result(2 * 3_600 + 60, "ok"),
    ])
    const end = 2 * 3_600 + 60
    assert.deepStrictEqual(judged(report), [
      [2, 0, 840, 0, true],
      [3, 0, end, 3, false],
      [4, 0, end, 2, false],
      [5, 0, end, 4, false],
      [6, 0, 60, 1, true],
    ])
  })

  it("is played to its end, whatever the place of its line", () => {
    const report = run([
      { received_at: at(0), expect_none: { receiver: "chat", cause: "reminder" } },
      { received_at: at(1_200), expect: { receiver: "chat", cause: "reminder", within: "1h" } },
      result(0, "critical"),
    ])
    assert.deepStrictEqual(judged(report), [
      [1, 0, 4_800, 1, false],
      [2, 1_200, 4_800, 1, true],
    ])
    assert.strictEqual(report.until, at(4_800))
  })

  it("is refused where it cannot fail, or has another form", () => {
    const report = run(
      [
        result(0, "critical"),
        { received_at: at(0), expect_none: { receiver: "nobody" } },
        { received_at: at(0), expect: { receiver: "chat", within: "2h" } },
        { received_at: at(0), expect: { receiver: "chat", within: "soon" } },
        { received_at: at(0), expect: { receiver: "chat", count: 1 } },
        { received_at: at(0), expect_at_most: { receiver: "chat" } },
        { expect: { receiver: "chat" } },
        { received_at: at(0), expect: { receiver: "chat", event: "resolved", cause: "opened" } },
        { received_at: at(0), expect: { receiver: "chat" }, expect_none: { receiver: "pager" } },
      ],
      { until: Instant.fromMillis(1_769_846_400_000 + 3_600_000) },
    )
    const reasons: ReadonlyArray<readonly [number, RegExp]> = [
      [2, /^receiver names no receiver; the receivers are chat, pager$/],
      [3, /^the simulation ends at .* before this expectation does: end it later$/],
      [4, /^expect\.within must be a duration/],
      [5, /^expect\.count is not a known field$/],
      [6, /^expect_at_most\.count is missing$/],
      [7, /^received_at is missing$/],
      [8, /^cause must be absent: a resolved has none$/],
      [9, /^expect_none is not a known field$/],
    ]
    assert.deepStrictEqual(
      report.refused.map(({ line }) => line),
      reasons.map(([line]) => line),
    )
    for (const [n, [, reason]] of reasons.entries()) assert.match(report.refused[n]?.reason ?? "", reason)
    assert.isUndefined(report.expectations)
  })
})
