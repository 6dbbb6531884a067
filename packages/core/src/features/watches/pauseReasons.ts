import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { FOREVER, isPaused } from "./WatchRecord.ts"

/** Says of the check of a watch that is paused that its status is no present one. */
export const pauseReasons = ({
  rules,
  storage,
}: {
  readonly rules: Pick<RuleOptions, "watchAgent">
  readonly storage: Pick<Storage["Service"], "rows">
}) =>
  Effect.fnUntraced(function* ({ agent_id, check_id }: CheckRef) {
    if (agent_id !== rules.watchAgent) return []
    const [watch] = yield* storage.rows("watch", [check_id])
    if (watch === undefined || !isPaused(watch, yield* Instant.now)) return []
    const { paused_until: end = FOREVER } = watch
    const until = end === FOREVER ? "it is resumed" : Instant.momentText(end)
    return [`Its watch is paused until ${until}: nothing probes it, and what it reported last stands.`]
  })
