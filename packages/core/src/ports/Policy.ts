import { Context, Duration } from "effect"
import type { KeyFingerprint } from "../contract/Identifiers.ts"
import type { NotifierName } from "../contract/Status.ts"

/** How fast tokens come back, and how many there can be. */
export interface RateLimit {
  readonly perMinute: number
  readonly burst: number
}

/** The numbers and choices that the rules depend on; the defaults are those of the decisions. */
export interface PolicyOptions {
  /** Notifiers that are told of incidents (docs/rules.md#outbox). */
  readonly notifiers: ReadonlyArray<NotifierName>
  /** Fingerprints of keys that are accepted on sight (docs/rules.md#what-is-stored-of-a-key). */
  readonly acceptFingerprints: ReadonlySet<KeyFingerprint>
  /** Registrations beyond this many pending agents are refused (docs/rules.md#what-is-stored-of-a-key). */
  readonly maxPendingAgents: number
  /** Heartbeats of one key (docs/rules.md#rate-limits). */
  readonly heartbeatRate: RateLimit
  /** Registrations of unknown keys from one client address (docs/rules.md#rate-limits). */
  readonly registrationRate: RateLimit
  /** Bytes that keys which are not accepted may send from one client address. */
  readonly unknownKeyVolume: RateLimit
  /** Failed authentications from one client address. */
  readonly failedAuthenticationRate: RateLimit
  /** A pending key that was silent for so long gives way to another one (docs/rules.md#agent-keys). */
  readonly pendingKeySilence: Duration.Duration
  /** An agent not heard of for so long is stale (docs/rules.md#agent-status). */
  readonly staleAfter: Duration.Duration
  /** An agent not heard of for so long is dead (docs/rules.md#heartbeat-incidents). */
  readonly deadAfter: Duration.Duration
}

const MIB = 1_048_576

/** {@link PolicyOptions} where nothing else is configured. */
export const defaultPolicy: PolicyOptions = {
  notifiers: ["debug"],
  acceptFingerprints: new Set(),
  maxPendingAgents: 10_000,
  heartbeatRate: { perMinute: 120, burst: 60 },
  registrationRate: { perMinute: 600, burst: 300 },
  // A body of 1 MiB takes some 10 ms: one address cannot take more than a hundredth of a processor.
  unknownKeyVolume: { perMinute: 60 * MIB, burst: 16 * MIB },
  failedAuthenticationRate: { perMinute: 60, burst: 60 },
  pendingKeySilence: Duration.hours(1),
  staleAfter: Duration.seconds(120),
  deadAfter: Duration.seconds(300),
}

/** The policy in force; the defaults unless one is provided. */
export const Policy = Context.Reference<PolicyOptions>("@tocsin/core/ports/Policy", {
  defaultValue: () => defaultPolicy,
})
