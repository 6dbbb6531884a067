import type { NotifierOption } from "../notifiers/builtInNotifiers.ts"
import type { StorageOption } from "../storages/storages.ts"
import type { Log } from "./log.ts"

type Unit = "second" | "seconds" | "minute" | "minutes" | "hour" | "hours" | "day" | "days"

/** A length of time: `"5 minutes"`, or a number of milliseconds. */
export type DurationOption = number | `${number} ${Unit}`

/** A token bucket: this many a minute, and a burst. */
export interface RateOption {
  readonly perMinute: number
  readonly burst: number
}

/** How long ended rows are kept; `false` keeps them for ever. */
export interface RetentionOption {
  /** Status changes, by arrival; the newest of each check always stays. 93 days unless given. */
  readonly history?: DurationOption | false | undefined
  /** Resolved incidents. 365 days unless given. */
  readonly incidents?: DurationOption | false | undefined
  /** Notifications that ended. 30 days unless given. */
  readonly outbox?: DurationOption | false | undefined
  /** Pending agents, since their last heartbeat. 7 days unless given. */
  readonly pending?: DurationOption | false | undefined
}

/**
 * A beat to a system that sounds the alarm when none comes: healthchecks.io, Uptime Kuma and the
 * like.
 */
export interface BeatOption {
  /**
   * Asked for while all is well; what is not is posted to `/fail` below it. It is a credential,
   * never shown or logged.
   */
  readonly url: string
  /** From one beat to the next. 1 minute unless given. */
  readonly interval?: DurationOption | undefined
}

/**
 * What a monitor is made of. All that is wrong is told at once, by one rejection with code
 * `options`.
 */
export interface MonitorOptions {
  /**
   * Where state lives: `memory()`, `sqlite(file)`, `postgres(url)` or `keyValue(…)`; or a layer of
   * Effect's.
   */
  readonly storage: StorageOption
  /** Who is told of incidents. `[debug()]` unless given: one log line each. */
  readonly notifiers?: ReadonlyArray<NotifierOption> | undefined
  /**
   * Tokens of operators who call `monitor.fetch` and `monitor.node`. Without any, the operators'
   * part of the HTTP API answers 401 to everyone, and operators are served by the methods.
   */
  readonly uiTokens?: ReadonlyArray<string> | undefined
  /** Tokens that may read only. */
  readonly readTokens?: ReadonlyArray<string> | undefined
  /**
   * What comes before `/api/v1` in the paths that reach `fetch` and `node`, where the host leaves
   * it there: `/monitoring`.
   */
  readonly basePath?: string | undefined
  /** How many proxies in front add to X-Forwarded-For; 0 unless given. */
  readonly trustedProxies?: number | undefined
  /**
   * Origins whose pages may call `fetch` and `node` from browsers (CORS), such as
   * `https://dashboard.example`; `["*"]` for every page. None unless given: leave it away where the
   * host answers for CORS itself.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /**
   * Serves metrics for Prometheus at `/metrics` of `fetch` and `node`: `true` to those with one of
   * the tokens above, `{ token }` also to those with that one, `"open"` to everyone. False unless
   * given.
   */
  readonly metrics?: boolean | "open" | { readonly token: string } | undefined

  /** An agent that is silent for this long is stale. 2 minutes unless given; at least 2 seconds. */
  readonly staleAfter?: DurationOption | undefined
  /**
   * An agent that is silent for this long is dead, and an incident opens. 5 minutes unless given;
   * longer than `staleAfter`.
   */
  readonly deadAfter?: DurationOption | undefined
  /** Heartbeats of one key; `false` for no limit. 120 a minute, 60 at once unless given. */
  readonly heartbeatRate?: RateOption | false | undefined
  /**
   * Registrations of unknown keys from one address; `false` for no limit. 600 a minute, 300 at once
   * unless given.
   */
  readonly registrationRate?: RateOption | false | undefined
  /** Registrations beyond so many pending agents are refused. 10,000 unless given. */
  readonly maxPendingAgents?: number | undefined
  /** Fingerprints (16 hex digits) of keys that are accepted on sight. */
  readonly acceptFingerprints?: ReadonlyArray<string> | undefined
  readonly retention?: RetentionOption | undefined

  /**
   * Whether this process sends notifications. True unless given; several processes on one storage
   * share the work.
   */
  readonly delivery?: boolean | undefined
  /**
   * Whether this process looks for dead agents and removes what outlived its retention. True unless
   * given.
   */
  readonly housekeeping?: boolean | undefined
  /**
   * Sends a beat to another system while all is well, and tells it what is not. None unless given.
   */
  readonly beat?: BeatOption | undefined
  /**
   * How long a claim to a notification holds; an attempt takes 15 s at most, two thirds of this
   * where it is shorter. 1 minute unless given.
   */
  readonly deliveryLease?: DurationOption | undefined
  /** Attempts under way at each notifier, from 1 to 1000. 32 unless given. */
  readonly deliveryConcurrency?: number | undefined
  /** No call waits longer for the storage. 10 seconds unless given. */
  readonly storageTimeout?: DurationOption | undefined
  /**
   * Peppers the hashes of agent keys. To be kept for good: with another one no agent key would be
   * known.
   */
  readonly keyPepper?: string | undefined
  /** Refuses to send to private addresses. False unless given. */
  readonly denyPrivateTargets?: boolean | undefined
  /** Where log entries go. The console's standard error unless given; `false` for nowhere. */
  readonly log?: Log | false | undefined
}
