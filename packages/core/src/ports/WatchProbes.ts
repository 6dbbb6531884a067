import type { ValidationError } from "@tocsin/contract/Errors"
import type { WatchProbe, WatchTrial } from "@tocsin/contract/Watches"
import { Context, type Effect } from "effect"

/** Probes other hosts from this process (docs/rules.md#watches). */
export interface WatchProbes {
  /** Fails if the options are not those of one probe. */
  readonly check: (watch: WatchProbe) => Effect.Effect<void, ValidationError>
  /** Runs one probe within its time-out. A failure of the host is a result. */
  readonly run: (watch: WatchProbe) => Effect.Effect<WatchTrial, ValidationError>
}

/** {@link WatchProbes}; absent where the process probes nothing. */
export const WatchProbes = Context.Reference<WatchProbes | undefined>("@tocsin/core/ports/WatchProbes", {
  defaultValue: () => undefined,
})
