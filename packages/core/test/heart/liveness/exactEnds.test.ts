import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { AgentId, CheckId, KeyHash, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import { Duration, Result } from "effect"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { acknowledgedUntil } from "../../../src/heart/acknowledgements/acknowledge.ts"
import { activeMutes } from "../../../src/heart/firings/mutes.ts"
import { reachableFrom } from "../../../src/heart/liveness/agentStatus.ts"
import { isInGrace, outageGraceAt } from "../../../src/heart/liveness/outage.ts"
import { isValidToken } from "../../../src/heart/model/OperatorRecord.ts"
import { mayRetry } from "../../../src/heart/notifications/recordResults.ts"
import { judgeExpectation } from "../../../src/heart/overdue/dueTime.ts"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { defaultRules } from "../../../src/kernel/ports/RuleSettings.ts"

const minutes = (count: number) => Instant.fromMillis(1_769_848_200_000 + count * 60_000)
const BEGAN = minutes(0)
const ENDED = minutes(10)

/** An outage that ended at {@link ENDED}, as the service heartbeat shows it later. */
const markAt = (beat_at: Instant.Instant) => ({
  name: "service" as const,
  beat_at,
  outage_began_at: BEGAN,
  outage_ended_at: ENDED,
})

const silence = {
  id: SilenceId.make("0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f02"),
  matchers: [Result.getOrThrow(parseMatcher("check_id = disk"))],
  comment: "a new disk",
  created_at: BEGAN,
  created_by: "ops",
  starts_at: BEGAN,
  ends_at: ENDED,
}

const HASH = KeyHash.make("a".repeat(64))
const FORMER = KeyHash.make("b".repeat(64))
const operator = {
  name: OperatorName.make("ann"),
  role: "admin" as const,
  token_hash: HASH,
  former_token_hash: FORMER,
  former_valid_until: minutes(5),
  created_at: BEGAN,
  created_by: "ops",
  expires_at: ENDED,
  last_used_at: undefined,
}

const verdictAt = (now: Instant.Instant) =>
  judgeExpectation(
    {
      agent: { last_seen_at: now, reachable_from: BEGAN },
      check: undefined,
      expectation: {
        agent_id: AgentId.make("a"),
        check_id: CheckId.make("disk"),
        registration_id: RegistrationId.make(silence.id),
        origin: "agent",
        terms: {
          after_millis: 600_000,
          every_millis: 60_000,
          severity: "critical",
          notifications_enabled: true,
        },
        expected_from: BEGAN,
        running_since: undefined,
        next_evaluation_at: BEGAN,
        incident_id: undefined,
        alone_due_at: undefined,
      },
      outageEnd: undefined,
      staleAfter: defaultRules.staleAfter,
    },
    now,
  ).verdict

/** Every span that is compared with the present, with its end. */
const spans = [
  {
    name: "a silence",
    ends: ENDED,
    isIn: (now: Instant.Instant) => activeMutes(compilePolicy({}, []), [silence], now).mutes.length > 0,
  },
  {
    name: "the time in which agents settle after an outage",
    ends: minutes(12),
    isIn: (now: Instant.Instant) => outageGraceAt(markAt(now), now, defaultRules.staleAfter) !== undefined,
  },
  {
    name: "the grace after an outage",
    ends: Instant.plus(ENDED, defaultRules.deadAfter),
    isIn: (now: Instant.Instant) => isInGrace(markAt(now), now, defaultRules),
  },
  {
    name: "an operator",
    ends: ENDED,
    isIn: (now: Instant.Instant) => isValidToken(operator, HASH, now),
  },
  {
    name: "an operator's former token",
    ends: minutes(5),
    isIn: (now: Instant.Instant) => isValidToken(operator, FORMER, now),
  },
  {
    name: "the time in which an acknowledgement can have its end",
    ends: ENDED,
    isIn: (now: Instant.Instant) => Result.isSuccess(acknowledgedUntil({ until: ENDED }, defaultRules, now)),
  },
  {
    name: "the age at which a notification is retried",
    ends: Instant.plus(BEGAN, Duration.hours(24)),
    isIn: (now: Instant.Instant) => mayRetry({ attempts: 1, age_starts_at: BEGAN }, now),
  },
  {
    name: "the contact of an agent",
    ends: Instant.plus(BEGAN, defaultRules.staleAfter),
    isIn: (now: Instant.Instant) =>
      reachableFrom({ last_seen_at: BEGAN, reachable_from: BEGAN }, now, defaultRules.staleAfter) === BEGAN,
  },
  {
    name: "the time in which a check must report",
    ends: ENDED,
    isIn: (now: Instant.Instant) => verdictAt(now) === "in_time",
  },
]

describe("a span ends exactly at its end", () => {
  it.each(spans)("$name", ({ ends, isIn }) => {
    assert.isTrue(isIn(Instant.minus(ends, Duration.nanos(1_000n))))
    assert.isFalse(isIn(ends))
  })
})
