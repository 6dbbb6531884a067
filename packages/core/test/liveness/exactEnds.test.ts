import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/Instant"
import { SilenceId } from "@tocsin/contract/Identifiers"
import { Duration, Result } from "effect"
import { parseMatcher } from "@tocsin/contract/Matcher"
import { activeMutes } from "../../src/firings/mutes.ts"
import { outageGraceAt } from "../../src/firings/outageGrace.ts"
import { isInGrace } from "../../src/liveness/outage.ts"
import { compilePolicy } from "../../src/policy/compilePolicy.ts"
import { defaultRules } from "../../src/ports/RuleSettings.ts"

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
]

describe("a span ends exactly at its end", () => {
  it.each(spans)("$name", ({ ends, isIn }) => {
    assert.isTrue(isIn(Instant.minus(ends, Duration.nanos(1_000n))))
    assert.isFalse(isIn(ends))
  })
})
