import { Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"

/** Requests of agents and senders are safe to repeat, so an unsettled commit is decided again. */
export const repeatingUnsettled =
  ({ transact }: Pick<Commits["Service"], "transact">): Commits["Service"]["transact"] =>
  (command) =>
    Effect.catchIf(
      transact(command),
      ({ isUnknown }) => isUnknown === true,
      () => transact(command),
    )
