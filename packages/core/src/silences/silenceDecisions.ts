import { Result } from "effect"
import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { SilenceId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { move } from "@tocsin/contract/TransitionTable"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import { type SilenceRecord, silenceState, SilenceTransitions } from "../model/SilenceRecord.ts"
import { areTooMany, formatMatcher, MOST_TOGETHER } from "@tocsin/contract/Matcher"
import { type AskedTimes, editedEnd, silenceTimes } from "./silenceTimes.ts"

/** Each claim may compare its incidents with every silence in force. */
export const MAX_UNENDED_SILENCES = 1_000

const TOO_MANY_SILENCES = `there are ${MAX_UNENDED_SILENCES} silences that have not ended; delete some first`
const TOO_MANY_MATCHERS = `silences that have not ended have at most ${MOST_TOGETHER.matchers} matchers together, ${MOST_TOGETHER.globs} of them globs; delete some first, or use fewer matchers`

/** A silence to create, and when it is asked to begin and end. */
type NewSilence = Pick<SilenceRecord, "comment" | "id" | "matchers"> & AskedTimes

/** Why a silence was not stored: its times are refused, or those that have not ended are too many. */
export interface SilenceRefusal {
  readonly reason: "invalid" | "too_many"
  readonly message: string
}

const refused = (reason: SilenceRefusal["reason"], message: string) => Result.fail({ reason, message })

/** Stores a silence, which begins no earlier than its transaction. */
export const createSilence = commandOf(function* (
  unit,
  now,
  { comment, id, matchers, ...asked }: NewSilence,
  rules: Pick<RuleOptions, "longestSilence">,
  by: Signature,
): Decision<Result.Result<SilenceRecord, SilenceRefusal>> {
  const times = silenceTimes(asked, rules, now)
  if (Result.isFailure(times)) return refused("invalid", times.failure)
  yield { unendedSilences: true }
  const { unendedSilences: others } = unit.searchResults
  if (others.length >= MAX_UNENDED_SILENCES) return refused("too_many", TOO_MANY_SILENCES)
  if (areTooMany([...others.map((one) => one.matchers), matchers]))
    return refused("too_many", TOO_MANY_MATCHERS)
  const { ends_at, starts_at } = times.success
  const created = { id, matchers, comment, starts_at, ends_at, created_at: now, created_by: by.actor }
  unit.of("silence").put(created)
  recordAudit(unit, now, by, "silence.created", [id], {
    matchers: matchers.map(formatMatcher).join(", "),
    starts_at: Instant.format(starts_at),
    ends_at: Instant.format(ends_at),
    comment,
  })
  return Result.succeed(created)
})

/** Looks up a silence. Changes nothing. */
export const readSilence = commandOf(function* (
  unit,
  _now,
  id: SilenceId,
): Decision<SilenceRecord | undefined> {
  yield { rows: { silence: [id] } }
  return unit.of("silence").get(id)
})

/** The fields of a silence that an edit may change. */
export interface SilenceChanges {
  readonly ends_at?: Instant.Instant | undefined
  readonly comment?: string | undefined
}

export type EditResult =
  | { readonly outcome: "edited"; readonly silence: SilenceRecord }
  | { readonly outcome: "unknown" | "ended" }
  | { readonly outcome: "invalid"; readonly message: string }

/** Edits a silence that has not ended, within the settings. */
export const editSilence = commandOf(function* (
  unit,
  now,
  id: SilenceId,
  changes: SilenceChanges,
  rules: Pick<RuleOptions, "longestSilence">,
  by: Signature,
): Decision<EditResult> {
  yield* load(unit, { rows: { silence: [id] } })
  const silence = unit.of("silence").get(id)
  if (silence === undefined) return { outcome: "unknown" }
  const state = silenceState(silence, now)
  if (state === "expired") return { outcome: "ended" }
  const { comment = silence.comment } = changes
  const end =
    changes.ends_at === undefined
      ? Result.succeed(silence.ends_at)
      : editedEnd(changes.ends_at, silence, rules, now)
  if (Result.isFailure(end)) return { outcome: "invalid", message: end.failure }
  const ends_at = end.success
  const edited = { ...silence, comment, ends_at }
  if (ends_at !== silence.ends_at || comment !== silence.comment) {
    move(SilenceTransitions, state, "edited")
    unit.of("silence").put(edited)
    const what = { ends_at: Instant.format(ends_at), comment }
    recordAudit(unit, now, by, "silence.changed", [id], what)
  }
  return { outcome: "edited", silence: edited }
})

/** Ends a silence now, and keeps its row. Returns how many it ended. */
export const expireSilence = commandOf(function* (unit, now, id: SilenceId, by: Signature): Decision<number> {
  yield* load(unit, { rows: { silence: [id] } })
  const silence = unit.of("silence").get(id)
  if (silence === undefined) return 0
  const state = silenceState(silence, now)
  if (state === "expired") return 0
  move(SilenceTransitions, state, "expired_by_hand")
  unit.of("silence").put({ ...silence, ends_at: now })
  recordAudit(unit, now, by, "silence.expired", [id], {})
  return 1
})
