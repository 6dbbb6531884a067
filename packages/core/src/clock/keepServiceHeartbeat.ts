import { Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { Chore, ChoreServices } from "../engine/commits/Chore.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { isFarAhead, writeServiceHeartbeat, serviceHeartbeatEvery } from "../liveness/outage.ts"
import { idlePause } from "../ports/IdlePause.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { repairClocks } from "./repairClocks.ts"

/**
 * Leaves the service heartbeat each time it runs. Where a service heartbeat far ahead shows that a clock was set
 * back, it also sets right what else that clock dated ahead. The service heartbeat is that of any process; a
 * process whose own clock was ahead, while others left right service heartbeats, knows by its last one.
 */
export const keepServiceHeartbeat = (
  storage: Storage["Service"],
  commits: Commits["Service"],
  rules: RuleOptions,
): Effect.Effect<void, StorageError> => {
  const leave = commits.transact(writeServiceHeartbeat(rules))
  let left: Instant.Instant | undefined
  let isWrong = false
  return Effect.gen(function* () {
    const now = yield* Instant.now
    const isAhead = yield* leave
    isWrong ||= isAhead || (left !== undefined && isFarAhead(left, now, rules))
    left = now
    if (!isWrong) return
    yield* Effect.logWarning(
      "a clock was ahead and has been corrected; future timestamps are treated as now: synchronize it with NTP",
    )
    // Many agents may take longer than the stale threshold: no outage.
    const leaving = Effect.forever(Effect.andThen(Effect.sleep(serviceHeartbeatEvery(rules)), leave))
    yield* Effect.raceFirst(repairClocks(storage, commits, rules), leaving)
    isWrong = false
    yield* commits.transact(writeServiceHeartbeat(rules, { isRight: true }))
  })
}

export const serviceHeartbeatChore = ({ commits, rules, storage }: ChoreServices): Chore => ({
  name: "leaving the service heartbeat",
  pause: idlePause(serviceHeartbeatEvery(rules)),
  piece: Effect.as(keepServiceHeartbeat(storage, commits, rules), false),
})
