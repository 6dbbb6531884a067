import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import { createSilence, expireSilence } from "@tocsin/core/features/silences/silenceDecisions"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Duration, Effect } from "effect"
import * as fc from "fast-check"
import type { Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import { eventId } from "../samples.ts"
import { transact } from "../transact.ts"

/** A person's actions on silences. */
export type SilenceAct =
  | {
      readonly act: "silence"
      readonly agent: string
      /** Seconds until it begins, and how long it lasts. */
      readonly from: number
      readonly seconds: number
    }
  | { readonly act: "expireSilence"; readonly nth: number }

/** A silence of one of these agents, or the end of one. */
export const silenceActs = (agents: ReadonlyArray<string>): fc.Arbitrary<SilenceAct> =>
  fc.oneof(
    fc.record({
      act: fc.constant("silence" as const),
      agent: fc.constantFrom(...agents),
      from: fc.constantFrom(0, 0, 0, 60),
      seconds: fc.constantFrom(1, 60, 3_600),
    }),
    fc.record({ act: fc.constant("expireSilence" as const), nth: fc.nat({ max: 5 }) }),
  )

/** Creates a silence, or ends one that may not exist. */
export const silenceOn = Effect.fnUntraced(function* (
  replica: Replica,
  action: SilenceAct,
  by: Signature,
  now: Instant.Instant,
) {
  if (action.act === "silence") {
    const starts_at = Instant.plus(now, Duration.seconds(action.from))
    const ends_at = Instant.plus(starts_at, Duration.seconds(action.seconds))
    const matchers = [{ field: "agent_id", op: "=", value: action.agent }] as const
    const id = SilenceId.make(replica.incidents.newOutboxId(now))
    const silence = { id, matchers, starts_at, ends_at, comment: "quiet" }
    return yield* transact(replica.storage, createSilence(silence, defaultRules, by))
  }
  const silences = yield* rowsOf(replica, "silences")
  const id = silences[action.nth % silences.length]?.id ?? SilenceId.make(eventId(0))
  return yield* transact(replica.storage, expireSilence(id, by))
})
