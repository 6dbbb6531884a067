import { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { Duration } from "effect"
import { assert, describe, it, vi } from "@effect/vitest"
import * as fc from "fast-check"
import * as Instant from "@tocsin/contract/formats/Instant"
import { dueTime, judgeExpectation } from "../../../src/heart/overdue/dueTime.ts"
import type { Terms } from "../../../src/heart/model/ExpectationRecord.ts"
import { timeZoneOf } from "@tocsin/contract/formats/zoneClocks"

const at = (text: string): Instant.Instant => Instant.fromMillis(Date.parse(text))
const iso = (instant: Instant.Instant): string => new Date(Number(instant / 1_000n)).toISOString()

const common = { after_millis: 180_000, severity: "unknown", notifications_enabled: true } as const
const eachMinute: Terms = { ...common, every_millis: 60_000 }
const terms = (cron: string, tz: string, grace_millis = 3_600_000): Terms => ({
  ...common,
  cron,
  tz,
  grace_millis,
})
const DECLARED = "2026-01-01T12:00:00Z"

const due = (given: Terms, reported: string | undefined, declared = DECLARED): string =>
  iso(
    dueTime(
      { expected_from: at(declared), running_since: undefined, terms: given },
      reported === undefined ? undefined : at(reported),
    ),
  )

describe("a check with `every` is due `after`", () => {
  it.each([
    ["its declaration, if it never reported", undefined, "2026-01-01T12:03:00.000Z"],
    ["its declaration, if it reported before", "2026-01-01T11:59:00Z", "2026-01-01T12:03:00.000Z"],
    ["its last result", "2026-01-01T12:05:30Z", "2026-01-01T12:08:30.000Z"],
  ])("%s", (_name, reported, expected) => {
    assert.strictEqual(due(eachMinute, reported), expected)
  })
})

describe("a check with `cron` is due `grace` after the time that its last result leaves to be met", () => {
  const nightly = terms("0 3 * * *", "Europe/Berlin")

  it.each([
    ["the first after its declaration", undefined, "2026-01-02T03:00:00.000Z"],
    ["a result early by more than 5 minutes", "2026-01-02T01:54:59Z", "2026-01-02T03:00:00.000Z"],
    ["a result early by 5 minutes counts for it", "2026-01-02T01:55:00Z", "2026-01-03T03:00:00.000Z"],
    ["a result in time", "2026-01-02T02:20:00Z", "2026-01-03T03:00:00.000Z"],
    ["a result late by hours", "2026-01-02T20:00:00Z", "2026-01-03T03:00:00.000Z"],
    ["a result days before its declaration", "2025-12-29T02:20:00Z", "2026-01-02T03:00:00.000Z"],
    ["a result before its declaration that counts", "2026-01-01T11:59:00Z", "2026-01-02T03:00:00.000Z"],
  ])("%s", (_name, reported, expected) => {
    assert.strictEqual(due(nightly, reported), expected)
  })

  it("is early for the time that follows it alone, not for one after its declaration", () => {
    const twice = terms("58,59 * * * *", "UTC", 60_000)
    const declared = "2026-01-01T12:58:30Z"
    assert.strictEqual(due(twice, "2026-01-01T12:57:30Z", declared), "2026-01-01T13:00:00.000Z")
    assert.strictEqual(due(twice, "2026-01-01T12:58:10Z", declared), "2026-01-01T13:59:00.000Z")
  })

  it("is early by at most a tenth of the period", () => {
    const often = terms("*/10 * * * *", "UTC", 60_000)
    assert.strictEqual(due(often, "2026-01-01T12:08:59Z"), "2026-01-01T12:11:00.000Z")
    assert.strictEqual(due(often, "2026-01-01T12:09:00Z"), "2026-01-01T12:21:00.000Z")
  })

  it.each([
    // Clocks go from 02:00 to 03:00 at 01:00Z, and from 03:00 back to 02:00 at 01:00Z.
    [
      "Berlin, a time in the gap",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00Z",
      "2026-03-29T02:00:00.000Z",
    ],
    [
      "Berlin, the time after the gap",
      "0 3 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00Z",
      "2026-03-29T02:00:00.000Z",
    ],
    [
      "Berlin, a time that comes twice",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00Z",
      "2026-10-25T02:30:00.000Z",
    ],
    [
      "New York, a time in the gap",
      "15 2 * * *",
      "America/New_York",
      "2026-03-07T12:00Z",
      "2026-03-08T08:00:00.000Z",
    ],
    [
      "New York, a time that comes twice",
      "15 1 * * *",
      "America/New_York",
      "2026-10-31T12:00Z",
      "2026-11-01T07:15:00.000Z",
    ],
    [
      "Berlin, hours of a step in the gap, which no cron runs",
      "0 */2 * * *",
      "Europe/Berlin",
      "2026-03-29T00:30Z",
      "2026-03-29T03:00:00.000Z",
    ],
    [
      "Berlin, minutes of a step in the gap, which no cron runs",
      "*/20 2 * * *",
      "Europe/Berlin",
      "2026-03-29T00:30Z",
      "2026-03-30T01:00:00.000Z",
    ],
    [
      "Berlin, minutes of a step that come twice, as systemd rests",
      "*/20 2 * * *",
      "Europe/Berlin",
      "2026-10-25T00:21Z",
      "2026-10-25T01:40:00.000Z",
    ],
    [
      "Berlin, only the Sundays of March on which clocks are set",
      "*/20 2 25-31 3 */7",
      "Europe/Berlin",
      "2026-03-28T12:00Z",
      "2026-03-29T02:00:00.000Z",
    ],
    [
      "Lord Howe, a time that comes twice within half an hour",
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2027-04-03T00:00Z",
      "2027-04-03T16:15:00.000Z",
    ],
  ])("in the night of a clock change: %s", (_name, cron, tz, declared, expected) => {
    assert.strictEqual(due(terms(cron, tz), undefined, declared), expected)
  })

  it("is found with few offsets of its zone, which take nearly all of its time", () => {
    const zone = timeZoneOf("Europe/Berlin") ?? assert.fail()
    const offsets = vi.spyOn(zone, "offsetAt")
    due(nightly, "2026-01-02T02:20:00Z")
    const asked = offsets.mock.calls.length
    offsets.mockRestore()
    assert.isAtMost(asked, 9)
  })

  it("is met once, the first time or the second, where its time comes twice", () => {
    const nightlyAtHalf = terms("30 2 * * *", "Europe/Berlin")
    for (const reported of ["2026-10-25T00:31:00Z", "2026-10-25T01:31:00Z"])
      assert.strictEqual(due(nightlyAtHalf, reported, "2026-10-24T12:00Z"), "2026-10-26T02:30:00.000Z")
  })
})

describe("a due time", () => {
  const instant = fc
    .integer({ min: 0, max: 366 * 86_400 })
    .map((seconds) => Instant.fromMillis(Date.parse("2026-01-01T00:00:00Z") + seconds * 1_000))
  const anyTerms = fc.constantFrom(
    eachMinute,
    terms("0 3 * * *", "Europe/Berlin"),
    terms("30 2 * * *", "America/New_York", 60_000),
    terms("*/7 1,2 * * *", "Australia/Lord_Howe", 1_000),
    terms("0 0 1 * *", "Asia/Kathmandu"),
  )

  it("never goes back as results arrive, and lies after the declaration and the last result", () => {
    fc.assert(
      fc.property(anyTerms, instant, instant, instant, (given, declared, one, other) => {
        const expectation = { expected_from: declared, running_since: undefined, terms: given }
        const [earlier, later] = one < other ? [one, other] : [other, one]
        const first = dueTime(expectation, earlier)
        const second = dueTime(expectation, later)
        assert.isTrue(first <= second)
        assert.isTrue(second > later && second > declared)
        assert.isTrue(dueTime(expectation, undefined) <= first)
      }),
    )
  })
})

describe("a check whose time has passed", () => {
  const verdict = (seen: string) =>
    judgeExpectation(
      {
        agent: { last_seen_at: at(seen), reachable_from: undefined },
        check: undefined,
        expectation: {
          agent_id: AgentId.make("a"),
          check_id: CheckId.make("disk"),
          registration_id: RegistrationId.make("01900000-0000-7000-8000-000000000000"),
          origin: "policy",
          terms: eachMinute,
          expected_from: at(DECLARED),
          running_since: undefined,
          next_evaluation_at: at(DECLARED),
          incident_id: undefined,
          alone_due_at: undefined,
        },
        outageEnd: undefined,
        staleAfter: Duration.minutes(2),
      },
      at("2026-01-01T12:04:00Z"),
    ).verdict

  it("is late if its agent was seen since then, waits for one that may yet come, and for a stale one", () => {
    assert.deepStrictEqual(
      ["12:03:01", "12:03:00", "12:02:59", "12:02:01", "12:02:00"].map((seen) =>
        verdict(`2026-01-01T${seen}Z`),
      ),
      ["overdue", "overdue", "waiting", "waiting", "in_time"],
    )
  })
})

describe("a run that had begun when the service or its agent was away", () => {
  const began = at("2026-03-01T12:00:00Z")
  const back = at("2026-03-01T12:50:00Z")
  const verdict = (now: string, away: "service" | "agent") =>
    judgeExpectation(
      {
        agent: { last_seen_at: at(now), reachable_from: away === "agent" ? back : began },
        check: { received_at: began },
        expectation: {
          agent_id: AgentId.make("a"),
          check_id: CheckId.make("backup"),
          registration_id: RegistrationId.make("01900000-0000-7000-8000-000000000000"),
          origin: "policy",
          terms: {
            ...common,
            after_millis: 26 * 3_600_000,
            every_millis: 24 * 3_600_000,
            grace_millis: 1_800_000,
          },
          expected_from: began,
          running_since: began,
          next_evaluation_at: began,
          incident_id: undefined,
          alone_due_at: undefined,
        },
        outageEnd: away === "service" ? back : undefined,
        staleAfter: Duration.minutes(2),
      },
      at(now),
    )

  it.each(["service", "agent"] as const)("has its own length from the return of the %s", (away) => {
    const earliest = at("2026-03-01T13:20:00Z")
    assert.deepStrictEqual(verdict("2026-03-01T13:19:59Z", away), { verdict: "in_time", earliest })
    assert.deepStrictEqual(verdict("2026-03-01T13:20:00Z", away), {
      verdict: "overdue",
      due: at("2026-03-01T12:30:00Z"),
      longest: Duration.minutes(30),
    })
  })
})
