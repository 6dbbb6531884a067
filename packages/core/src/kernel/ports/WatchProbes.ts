import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { WatchProbe } from "@tocsin/contract/watches/WatchProbe"
import type { WatchTrial } from "@tocsin/contract/watches/Watches"
import type { ProbeSecrets, SecretPlace } from "@tocsin/contract/watches/watchSecrets"
import { Context, type Effect, type Result } from "effect"

/** Probes other hosts from this process (docs/rules.md#watches). */
export interface WatchProbes {
  /** Fails if the options are not those of one probe. */
  readonly check: (watch: WatchProbe) => Effect.Effect<void, ValidationError>
  /** The secrets at places that a policy names, or why one is not there. */
  readonly open: (places: ProbeSecrets<SecretPlace>) => Result.Result<ProbeSecrets, string>
  /** Runs one probe within its time-out. A failure of the host is a result, which shows none of its secrets. */
  readonly run: (watch: WatchProbe) => Effect.Effect<WatchTrial, ValidationError>
}

/** {@link WatchProbes}; absent where the process probes nothing. */
export const WatchProbes = Context.Reference<WatchProbes | undefined>(
  "@tocsin/core/kernel/ports/WatchProbes",
  {
    defaultValue: () => undefined,
  },
)
