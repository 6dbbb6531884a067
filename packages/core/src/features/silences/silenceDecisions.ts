import { Result } from "effect"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import type { SilenceId, SilenceRequest } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  commandOf,
  type Decision,
  loadRow,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import { type Refusal, refused, spanStart } from "../../kernel/model/plannedSpan.ts"
import { type SilenceRecord, silenceState, SilenceTransitions } from "../../heart/model/SilenceRecord.ts"
import { areTooMany, MOST_TOGETHER } from "@tocsin/contract/labels/Matcher"
import { formatMatcher } from "@tocsin/contract/labels/matcherText"
import { formatDuration } from "@tocsin/contract/formats/DurationText"

type SilenceLimit = Pick<RuleOptions, "longestSilence">

const endAfter = (
  starts_at: Instant.Instant,
  ends_at: Instant.Instant,
  { longestSilence }: SilenceLimit,
  field: "ends_at" | "for" = "ends_at",
): Result.Result<Instant.Instant, string> => {
  if (ends_at <= starts_at) return Result.fail("ends_at must be in the future, and after starts_at")
  if (ends_at > Instant.LATEST) return Result.fail("ends_at must be before the year 10000")
  return ends_at > Instant.plus(starts_at, longestSilence)
    ? Result.fail(
        `${field} must not make the silence longer than ${formatDuration(longestSilence)} (SERVICE_SILENCE_MAX, or longestSilence in a program); extend it later`,
      )
    : Result.succeed(ends_at)
}

type AskedTimes = Pick<SilenceRequest, "ends_at" | "for" | "starts_at">

/** When a new silence begins and ends, within the settings (docs/rules.md#silences). */
export const silenceTimes = (
  request: AskedTimes,
  limit: SilenceLimit,
  now: Instant.Instant,
): Result.Result<Pick<SilenceRecord, "ends_at" | "starts_at">, string> => {
  const start = spanStart(request.starts_at, "starts_at", now)
  if (Result.isFailure(start)) return Result.fail(start.failure)
  const starts_at = start.success
  if (request.for !== undefined && request.ends_at !== undefined)
    return Result.fail("for and ends_at exclude each other; give one of them")
  const ends_at = request.for === undefined ? request.ends_at : Instant.plus(starts_at, request.for)
  if (ends_at === undefined) return Result.fail("ends_at or for is missing; give one of them")
  const field = request.for === undefined ? "ends_at" : "for"
  return Result.map(endAfter(starts_at, ends_at, limit, field), () => ({ starts_at, ends_at }))
}

const editedEnd = (
  ends_at: Instant.Instant,
  { starts_at }: Pick<SilenceRecord, "starts_at">,
  limit: SilenceLimit,
  now: Instant.Instant,
): Result.Result<Instant.Instant, string> => {
  if (ends_at <= now) return Result.fail("ends_at must be in the future; expire the silence to end it now")
  return endAfter(starts_at, ends_at, limit)
}

/** Each claim may compare its incidents with every silence in force. */
export const MAX_UNENDED_SILENCES = 1_000

const TOO_MANY_SILENCES = `there are ${MAX_UNENDED_SILENCES} silences that have not ended; delete some first`
const TOO_MANY_MATCHERS = `silences that have not ended have at most ${MOST_TOGETHER.matchers} matchers together, ${MOST_TOGETHER.globs} of them globs; delete some first, or use fewer matchers`

type NewSilence = Pick<SilenceRecord, "comment" | "id" | "matchers"> & AskedTimes

/** Stores a silence, which begins no earlier than its transaction. */
export const createSilence = loneCommandOf(function* (
  unit,
  { comment, id, matchers, ...asked }: NewSilence,
  rules: Pick<RuleOptions, "longestSilence">,
  by: Signature,
): LoneDecision<Result.Result<SilenceRecord, Refusal>> {
  const times = silenceTimes(asked, rules, unit.now)
  if (Result.isFailure(times)) return refused("invalid", times.failure)
  const others = yield* find("unendedSilences", undefined)
  if (others.length >= MAX_UNENDED_SILENCES) return refused("too_many", TOO_MANY_SILENCES)
  if (areTooMany([...others.map((one) => one.matchers), matchers]))
    return refused("too_many", TOO_MANY_MATCHERS)
  const { ends_at, starts_at } = times.success
  const created = { id, matchers, comment, starts_at, ends_at, created_at: unit.now, created_by: by.actor }
  unit.of("silence").put(created)
  unit.raise("silences", by.newAuditId)
  recordAudit(unit, by, "silence.created", [id], {
    matchers: matchers.map(formatMatcher).join(", "),
    starts_at: Instant.format(starts_at),
    ends_at: Instant.format(ends_at),
    comment,
  })
  return Result.succeed(created)
})

export interface SilenceChanges {
  readonly ends_at?: Instant.Instant | undefined
  readonly comment?: string | undefined
}

type EditResult =
  | { readonly outcome: "edited"; readonly silence: SilenceRecord }
  | { readonly outcome: "unknown" | "ended" }
  | { readonly outcome: "invalid"; readonly message: string }

/** Edits a silence that has not ended, within the settings. */
export const editSilence = commandOf(function* (
  unit,
  id: SilenceId,
  changes: SilenceChanges,
  rules: Pick<RuleOptions, "longestSilence">,
  by: Signature,
): Decision<EditResult> {
  const silence = yield* loadRow(unit, "silence", id)
  if (silence === undefined) return { outcome: "unknown" }
  const state = silenceState(silence, unit.now)
  if (state === "expired") return { outcome: "ended" }
  const { comment = silence.comment } = changes
  const end =
    changes.ends_at === undefined
      ? Result.succeed(silence.ends_at)
      : editedEnd(changes.ends_at, silence, rules, unit.now)
  if (Result.isFailure(end)) return { outcome: "invalid", message: end.failure }
  const ends_at = end.success
  const edited = { ...silence, comment, ends_at }
  if (ends_at !== silence.ends_at || comment !== silence.comment) {
    move(SilenceTransitions, state, "edited")
    unit.of("silence").put(edited)
    unit.raise("silences", by.newAuditId)
    const what = { ends_at: Instant.format(ends_at), comment }
    recordAudit(unit, by, "silence.changed", [id], what)
  }
  return { outcome: "edited", silence: edited }
})

/** Ends a silence now, and keeps its row. Returns how many it ended. */
export const expireSilence = commandOf(function* (unit, id: SilenceId, by: Signature): Decision<number> {
  const silence = yield* loadRow(unit, "silence", id)
  if (silence === undefined) return 0
  const state = silenceState(silence, unit.now)
  if (state === "expired") return 0
  move(SilenceTransitions, state, "expired_by_hand")
  unit.of("silence").put({ ...silence, ends_at: unit.now })
  unit.raise("silences", by.newAuditId)
  recordAudit(unit, by, "silence.expired", [id], {})
  return 1
})
