import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { Commits } from "../engine/commits/Commits.ts"
import { passes } from "../engine/lists/passes.ts"
import { PENDING_FIRINGS } from "../engine/lists/readPage.ts"
import type { Command } from "../engine/unitOfWork/Decision.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { examineIncidents } from "./examineHeld.ts"
import type { HoldOptions } from "./gatherHolds.ts"
import { isHeld } from "./heldItems.ts"
import { heldItems } from "./readHolds.ts"

/** Every held firing is evaluated this often in any case: labels of agents change unnoticed. */
const REEVALUATE_EVERY = Duration.minutes(5)

/**
 * A silence may begin and end between two looks, and a claim may still be under way that decided by
 * the former silences or policy: its firings are evaluated this long after a change.
 */
const RECENTLY = Duration.minutes(1)

/**
 * The silences that are in force, or were recently, as a text: another one means that holds may have
 * ended.
 */
export const silencesInForce: Command<string> = function* (unit, now) {
  yield { silencesInForce: { endingAfter: Instant.minus(now, RECENTLY) } }
  const { silencesInForce: silences } = unit.searchResults
  return silences
    .map(({ ends_at, id }) => `${id} ${ends_at}`)
    .toSorted()
    .join()
}

interface Evaluated {
  readonly policy: Policy
  readonly silences: string
  readonly at: Instant.Instant
  readonly isAfterChange: boolean
}

interface LookOptions extends HoldOptions {
  /** Held firings per transaction. */
  readonly limit: number
}

/**
 * One piece of looking at all held firings under other silences or another policy, at a start, and
 * every five minutes; returns whether there may be more. Reads without locks, and examines only the
 * firings whose holds have changed: nothing is written while nothing changes.
 */
export const reevaluateHeld = (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { limit, ...options }: LookOptions,
): Effect.Effect<boolean, StorageError> => {
  let evaluated: Evaluated | undefined
  const begin = Effect.gen(function* () {
    const now = yield* Instant.now
    const [policy, silences] = [options.policy(), yield* commits.transact(silencesInForce)]
    const isSame = evaluated?.policy === policy && evaluated.silences === silences
    const pause = evaluated?.isAfterChange === true ? RECENTLY : REEVALUATE_EVERY
    if (evaluated !== undefined && isSame && Instant.isRecent(evaluated.at, pause, now)) return false
    evaluated = { policy, silences, at: now, isAfterChange: !isSame }
    return true
  })
  const evaluate = Effect.fnUntraced(function* (rows: ReadonlyArray<OutboxRecord>) {
    const held = rows.filter(isHeld)
    const stillHeld = yield* commits.transact(heldItems(held, options))
    const changed = held.filter(
      ({ id, next_evaluation_at }) => stillHeld.get(id)?.held_until !== next_evaluation_at,
    )
    if (changed.length > 0)
      yield* commits.transact(
        examineIncidents(
          options,
          changed.map(({ incident_id }) => incident_id),
        ),
      )
  })
  return passes(storage, PENDING_FIRINGS, { begin, limit, evaluate })
}
