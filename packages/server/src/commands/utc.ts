import process from "node:process"
import { Effect } from "effect"
import { Flag, GlobalFlag } from "effect/cli"

/** Whether times are printed in UTC, and not in the zone of the machine. */
export const Utc = GlobalFlag.Setting("utc")({
  flag: Flag.Boolean("utc").pipe(
    Flag.withDescription("Print times in UTC instead of the time zone of this machine (TZ)"),
    Flag.withoutNegation,
    Flag.withDefault(false),
  ),
})

/** Node.js follows the variable from then on. */
export const useUtc = Effect.map(Utc, (isUtc) => {
  if (isUtc) process.env["TZ"] = "UTC"
})
