import { Duration, Result } from "effect"
import type { OverrideId, OverrideRequest } from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { type Refusal, refused, spanStart } from "../../kernel/model/plannedSpan.ts"
import {
  OverrideTransitions,
  overrideState,
  type RotaOverrideRecord,
} from "../../heart/model/RotaOverrideRecord.ts"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import { lostOverrides } from "./rotaWarnings.ts"
import {
  commandOf,
  type Decision,
  loadRow,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"

const LONGEST = Duration.days(31)
/** Each naming of receivers may compare all of them. */
export const MAX_UNENDED_OVERRIDES = 1_000

/** When an override is asked to begin and end. */
interface AskedTimes extends Pick<OverrideRequest, "to"> {
  readonly from?: Instant.Instant | undefined
}

/** When a new override begins and ends (docs/rules.md#overrides). */
const overrideTimes = (
  { from, to }: AskedTimes,
  now: Instant.Instant,
): Result.Result<Pick<RotaOverrideRecord, "ends_at" | "starts_at">, string> => {
  const start = spanStart(from, "from", now)
  if (Result.isFailure(start)) return Result.fail(start.failure)
  const starts_at = start.success
  if (to <= starts_at) return Result.fail("to must be in the future, and after from")
  return to > Instant.plus(starts_at, LONGEST)
    ? Result.fail("to must be at most 31 days after from; create another override for the rest")
    : Result.succeed({ starts_at, ends_at: to })
}

type NewOverride = Pick<RotaOverrideRecord, "id" | "note" | "receivers" | "rota"> & AskedTimes

/** When an override of a rota is created, now, or after all that are stored: a clock may have been set back since. */
const createdAfter = (
  stored: ReadonlyArray<RotaOverrideRecord>,
  of: NotifierName,
  now: Instant.Instant,
): Instant.Instant => {
  const last = Instant.latest(stored.filter(({ rota }) => rota === of).map(({ created_at }) => created_at))
  return last === undefined ? now : Instant.max(now, Instant.fromMicros(last + 1n))
}

/** Stores an override, which begins no earlier than its transaction. */
export const createOverride = loneCommandOf(function* (
  unit,
  { from, to, ...given }: NewOverride,
  by: Signature,
): LoneDecision<Result.Result<RotaOverrideRecord, Refusal>> {
  const times = overrideTimes({ from, to }, unit.now)
  if (Result.isFailure(times)) return refused("invalid", times.failure)
  if ((yield* find("unended", "rota_override")) >= MAX_UNENDED_OVERRIDES)
    return refused(
      "too_many",
      `there are ${MAX_UNENDED_OVERRIDES} overrides that have not ended; end some first`,
    )
  const created_at = createdAfter(yield* find("overridesEndingAfter", unit.now), given.rota, unit.now)
  const created = { ...given, ...times.success, created_at, created_by: by.actor }
  unit.of("rota_override").put(created)
  unit.raise("overrides", by.newAuditId)
  recordAudit(unit, by, "override.created", [created.id], {
    rota: created.rota,
    receivers: created.receivers.join(", "),
    from: Instant.format(created.starts_at),
    to: Instant.format(created.ends_at),
    note: created.note,
  })
  return Result.succeed(created)
})

/** Ends an override of a rota now, and keeps its row. Returns how many it ended. */
export const endOverride = commandOf(function* (
  unit,
  rota: NotifierName,
  id: OverrideId,
  by: Signature,
): Decision<number> {
  const override = yield* loadRow(unit, "rota_override", id)
  if (override?.rota !== rota) return 0
  const state = overrideState(override, unit.now)
  if (state === "ended") return 0
  move(OverrideTransitions, state, "ended_by_hand")
  unit.of("rota_override").put({ ...override, ends_at: unit.now })
  unit.raise("overrides", by.newAuditId)
  recordAudit(unit, by, "override.ended", [id], {})
  return 1
})

/** The overrides of all rotas that end after a moment. */
export const overridesEndingAfter = commandOf(function* (
  _unit,
  moment: Instant.Instant,
): Decision<ReadonlyArray<RotaOverrideRecord>> {
  return yield* find("overridesEndingAfter", moment)
})

/** Warnings of the overrides that do not count under a policy. */
export const findLostOverrides = commandOf(function* (
  unit,
  policy: Policy,
): Decision<ReturnType<typeof lostOverrides>> {
  return lostOverrides(policy, yield* find("overridesEndingAfter", unit.now))
})
