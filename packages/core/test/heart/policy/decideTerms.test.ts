import { assert, describe, it } from "@effect/vitest"
import { Duration, Result } from "effect"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { decideTerms } from "../../../src/heart/policy/decideTerms.ts"

const STALE_AFTER = Duration.minutes(2)

const read = (checks: ReadonlyArray<object>) =>
  Result.flatMap(decodeExpectationsRequest({ checks }), (request) => decideTerms(request, STALE_AFTER))

const messageOf = (checks: ReadonlyArray<object>): string =>
  Result.match(read(checks), { onFailure: ({ message }) => message, onSuccess: () => "accepted" })

const check_id = "disk"
const nightly = { check_id, cron: "0 3 * * *", tz: "Europe/Berlin" }

describe("the terms of a declared check", () => {
  it.each([
    ["three times every", { every: "5m" }, { every_millis: 300_000, after_millis: 900_000 }],
    ["a default below the least is raised", { every: "10s" }, { after_millis: 150_000 }],
    ["the least after", { every: "10s", after: "150s" }, { after_millis: 150_000 }],
    ["another after", { every: "5m", after: "6m" }, { after_millis: 360_000 }],
    ["the longest every", { every: "31d" }, { after_millis: 93 * 86_400_000 }],
  ])("have %s", (_name, given, expected) => {
    const [check] = Result.getOrThrow(read([{ check_id, ...given }]))
    assert.deepInclude(check?.terms, { ...expected, severity: "unknown", notifications_enabled: true })
  })

  it("have an hour of grace with cron, unless they name another time", () => {
    const [usual, short] = Result.getOrThrow(read([nightly, { ...nightly, check_id: "b", grace: "1s" }]))
    assert.deepInclude(usual?.terms, { grace_millis: 3_600_000, after_millis: 3_600_000 })
    assert.deepInclude(short?.terms, { grace_millis: 1_000, after_millis: 150_000 })
  })

  it.each([
    ["neither", [{ check_id }], "checks[0] must have every or cron, one of them"],
    ["both", [{ ...nightly, every: "5m" }], "checks[0] must have every or cron, one of them"],
    ["cron without tz", [{ check_id, cron: "0 3 * * *" }], "checks[0].tz must be given with cron"],
    ["tz without cron", [{ check_id, every: "5m", tz: "UTC" }], "checks[0].tz must be absent without cron"],
    ["every below 10 s", [{ check_id, every: "9s" }], /^checks\[0\]\.every must be /],
    ["every above 31 d", [{ check_id, every: "32d" }], /^checks\[0\]\.every must be /],
    [
      "after below the threshold",
      [
        { check_id: "a", every: "5m" },
        { check_id, every: "1m", after: "149s" },
      ],
      "checks[1].after must be at least 150s: with less, a host that falls silent is reported twice",
    ],
    [
      "after with cron",
      [{ ...nightly, after: "1h" }],
      "checks[0].after must be absent with cron: grace takes its place",
    ],
    [
      "grace with every",
      [{ check_id, every: "1m", grace: "1h" }],
      "checks[0].grace must be absent with every: after takes its place",
    ],
    [
      "an unknown zone",
      [{ ...nightly, tz: "Europe/Atlantis" }],
      "checks[0].tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
    ],
    [
      "a date that never comes",
      [{ ...nightly, cron: "0 0 30 2 *" }],
      "checks[0].cron never fires: no date matches it",
    ],
    [
      "six fields",
      [{ ...nightly, cron: "0 0 3 * * *" }],
      "checks[0].cron must have five fields: minute, hour, day, month, weekday",
    ],
    [
      "no cron expression",
      [{ ...nightly, cron: "a b c d e" }],
      /^checks\[0\]\.cron is not a cron expression: /,
    ],
    ["a check twice", [nightly, nightly], "checks[1].check_id must not be given twice"],
    ["an unknown field", [{ ...nightly, evry: "5m" }], "checks[0].evry is not a known field"],
    [
      "1,001 checks",
      Array.from({ length: 1_001 }, (_, n) => ({ check_id: `c${n}`, every: "1m" })),
      "checks must contain at most 1000 checks",
    ],
  ])("are refused: %s", (_name, checks, message) => {
    if (typeof message === "string") assert.strictEqual(messageOf(checks), message)
    else assert.match(messageOf(checks), message)
  })

  it("may be those of 1,000 checks", () => {
    const checks = Array.from({ length: 1_000 }, (_, n) => ({ check_id: `c${n}`, every: "1m" }))
    assert.strictEqual(messageOf(checks), "accepted")
  })
})
