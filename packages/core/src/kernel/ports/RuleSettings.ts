import { Context, Duration } from "effect"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import { AgentId, type KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import type { NotifierKind, NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { ProbeTarget } from "@tocsin/contract/watches/WatchProbe"

export interface RateLimit {
  readonly perMinute: number
  readonly burst: number
}

/** Settings that operators store, and that change while the service runs (docs/rules.md#stored-settings). */
export interface StoredSettings {
  publicUrl?: string | undefined
  watchLoopback?: boolean | undefined
}

export interface RuleOptions {
  /** Receivers that a policy may name without defining them (docs/rules.md#policy). */
  readonly notifiers: ReadonlyArray<NotifierName>
  /** Receivers of modules, or of the program around, that remain whatever a policy defines (docs/rules.md#extensions). */
  readonly extensions?: ReadonlyArray<NotifierName> | undefined
  /** The kinds of those that are not named by their kinds. */
  readonly notifierKinds?: Readonly<Record<NotifierName, NotifierKind>> | undefined
  /** Whether they remain receivers where a policy defines some, as a program's own notifiers do. */
  readonly keepsNotifiers: boolean
  /** Whether settings give a mail server to receivers that state none (docs/rules.md#mails). */
  readonly hasMailServer?: boolean | undefined
  /** Why no watch may have its target; absent where nothing is probed (docs/rules.md#watches). */
  readonly watchProblem?: ((watch: ProbeTarget) => FieldProblem | undefined) | undefined
  readonly policy: PolicyDocument
  /** Fingerprints of keys to accept on sight (docs/rules.md#registration). */
  readonly acceptFingerprints: ReadonlySet<KeyFingerprint>
  /** At this many pending agents, further registrations are refused (docs/rules.md#registration). */
  readonly maxPendingAgents: number
  /** Heartbeats of one key (docs/rules.md#rate-limits). */
  readonly heartbeatRate: RateLimit
  /** Registrations of unknown keys from one client address (docs/rules.md#rate-limits). */
  readonly registrationRate: RateLimit
  /** Bytes per client address, from keys that are not accepted. */
  readonly unknownKeyVolume: RateLimit
  readonly failedAuthenticationRate: RateLimit
  /** Requests of the senders of one integration (docs/rules.md#integrations). */
  readonly integrationRate: RateLimit
  /** Their requests for one check. */
  readonly integrationCheckRate: RateLimit
  /** The agent that has the results of watches (docs/rules.md#watches). */
  readonly watchAgent: AgentId
  /** The address at which people and senders reach the service, where it is not {@link StoredSettings}' to say. */
  readonly publicUrl?: string | undefined
  /** Whether watches may reach loopback addresses, where it is not {@link StoredSettings}' to say. */
  readonly watchLoopback?: boolean | undefined
  /** The settings that operators store; without them, what is stored counts for nothing here. */
  readonly stored?: StoredSettings | undefined
  /** The domain of the addresses of integrations that take mail; `localhost` unless given. */
  readonly mailDomain?: (() => string) | undefined
  /** Whether messages have details of the worst check (docs/rules.md#details). */
  readonly messageDetails: boolean
  /** After this silence a pending key gives way to another one (docs/rules.md#rotation). */
  readonly pendingKeySilence: Duration.Duration
  /** After this silence an agent is stale (docs/rules.md#agent-status). */
  readonly staleAfter: Duration.Duration
  /** How long an acknowledgement lasts unless it says otherwise (SERVICE_ACK_FOR). */
  readonly acknowledgedFor: Duration.Duration
  /** How long one may last (SERVICE_ACK_MAX). */
  readonly longestAcknowledgement: Duration.Duration
  /** How long a silence may last (SERVICE_SILENCE_MAX). */
  readonly longestSilence: Duration.Duration
  /** After this silence an agent is dead (docs/rules.md#heartbeat-incidents). */
  readonly deadAfter: Duration.Duration
}

/** The public address in force: that of the environment, or else the stored one. */
export const publicUrlOf = ({
  publicUrl,
  stored,
}: Pick<RuleOptions, "publicUrl" | "stored">): string | undefined => publicUrl ?? stored?.publicUrl

const MIB = 1_048_576

/** {@link RuleOptions} without configuration. */
export const defaultRules: RuleOptions = {
  notifiers: ["debug"],
  keepsNotifiers: true,
  policy: {},
  acceptFingerprints: new Set(),
  maxPendingAgents: 10_000,
  heartbeatRate: { perMinute: 120, burst: 60 },
  registrationRate: { perMinute: 600, burst: 300 },
  // A body of 1 MiB takes about 10 ms: one address uses at most a hundredth of a processor.
  unknownKeyVolume: { perMinute: 60 * MIB, burst: 16 * MIB },
  failedAuthenticationRate: { perMinute: 60, burst: 60 },
  integrationRate: { perMinute: 6_000, burst: 3_000 },
  integrationCheckRate: { perMinute: 60, burst: 20 },
  watchAgent: AgentId.make("watches"),
  messageDetails: true,
  pendingKeySilence: Duration.hours(1),
  staleAfter: Duration.seconds(120),
  acknowledgedFor: Duration.hours(8),
  longestAcknowledgement: Duration.days(7),
  longestSilence: Duration.days(30),
  deadAfter: Duration.seconds(300),
}

/** {@link RuleOptions}; the defaults unless provided. */
export const RuleSettings = Context.Reference<RuleOptions>("@tocsin/core/kernel/ports/RuleSettings", {
  defaultValue: () => defaultRules,
})
