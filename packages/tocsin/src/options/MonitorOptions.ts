import type { DurationOption } from "@tocsin/client"
import type { ConsoleFiles } from "@tocsin/adapter-http/pages/PageRoutes"
import type { NotifierOption } from "../notifiers/notifiers.ts"
import type { PolicyOption } from "../policy/givenPolicy.ts"
import type { KeyValueOptions } from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import type { StorageChoice } from "../storages/storages.ts"
import type { Log } from "./log.ts"

/** A token bucket: this many a minute, and a burst. */
export interface RateOption {
  readonly perMinute: number
  readonly burst: number
}

/** How long ended rows stay; `false` keeps them for ever. */
export interface RetentionOption {
  /** Status changes, by arrival; the newest of each check always stays. 93 days unless given. */
  readonly history?: DurationOption | false | undefined
  /** Resolved incidents. 365 days unless given. */
  readonly incidents?: DurationOption | false | undefined
  /** Notifications that ended. 30 days unless given. */
  readonly outbox?: DurationOption | false | undefined
  /** Pending agents, since their last heartbeat. 7 days unless given. */
  readonly pending?: DurationOption | false | undefined
  /** The audit. 400 days unless given. */
  readonly audit?: DurationOption | false | undefined
  /** Numbers over time. 93 days unless given. */
  readonly numbers?: DurationOption | false | undefined
}

/** Watchdog pings to a system that raises an alarm without them, such as healthchecks.io or Uptime Kuma. */
export interface WatchdogOption {
  /** Requested while all is well; trouble is posted to `/fail` below it. Never shown or logged. */
  readonly url: string
  /** From one ping to the next. 1 minute unless given. */
  readonly interval?: DurationOption | undefined
}

/** How the messages of receivers of type `browser` get to the browsers of operators. */
export interface PushOption {
  /** Whom push services may write to: `mailto:` or `https:`. `publicUrl` unless given, if that begins with `https:`. */
  readonly contact?: string | undefined
  /** Push services besides those of Google, Mozilla, Apple and Microsoft: a host, `*.DOMAIN` or an origin. */
  readonly services?: ReadonlyArray<string> | undefined
}

/**
 * The default export of a module that SERVICE_EXTENSIONS names: what it gives to a server
 * (docs/rules.md#extensions).
 */
export interface Extension extends Pick<MonitorOptions, "notifiers"> {
  readonly storage?: StorageChoice | KeyValueOptions | undefined
}

/** Options of a monitor. One rejection with code `options` reports all problems. */
export interface MonitorOptions {
  /** The storage: `memory()`, `sqlite(file)`, `postgres(url)` or `keyValue(…)`. */
  readonly storage: StorageChoice
  /** The notifiers of incidents. `[debug()]` unless given: one log line each. */
  readonly notifiers?: ReadonlyArray<NotifierOption> | undefined
  /**
   * The routes of notifications: the document of a policy file, as an object. Notifiers are receivers by
   * their names; `receivers` defines more, whose secrets are in files or environment variables. Without a
   * policy, every notifier is notified of everything. With `"stored"`, the storage keeps the policy, as for a server:
   * `policy.apply` and `PUT /ops/v1/policy` change it in all processes, and `setPolicy` rejects.
   */
  readonly policy?: PolicyOption | "stored" | undefined
  /** The folder of the only files that a stored policy may name. None unless given; only with `policy: "stored"`. */
  readonly secretsDir?: string | undefined
  /**
   * Encrypts the stored secrets of receivers, and browsers: 64 hex digits, the same in all processes; a second key after
   * a comma only decrypts. Without it, none can be stored. Only with `policy: "stored"` or `push`.
   */
  readonly secretsKey?: string | undefined
  /** Notifies browsers by receivers of type `browser`. Needs `secretsKey`. Without it, none gets notifications. */
  readonly push?: PushOption | undefined
  /** Operators' tokens for `fetch` and `node`; without any, their part of the HTTP API answers 401. The methods need none. */
  readonly operatorTokens?: ReadonlyArray<string> | undefined
  /** Tokens that may read only. */
  readonly readTokens?: ReadonlyArray<string> | undefined
  /**
   * The prefix of `/api/v1` in the paths that reach `fetch` and `node`: `/monitoring`. With Express's `next`,
   * other paths are the app's own.
   */
  readonly basePath?: string | undefined
  /** How many proxies add to X-Forwarded-For; 0 unless given. */
  readonly trustedProxies?: number | undefined
  /**
   * Origins whose pages may call `fetch` and `node` from browsers (CORS), such as
   * `https://dashboard.example`; `["*"]` for all. None unless given: omit it if the host handles CORS.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /**
   * Serves Prometheus metrics at `/metrics` of `fetch` and `node`: `true` for the tokens above, `{ token }`
   * also for that token, `"open"` for everyone. False unless given.
   */
  readonly metrics?: boolean | "open" | { readonly token: string } | undefined
  /**
   * The console at `/`: `await consoleFiles()` of `tocsin/console`. Serve it below a path that ends with a
   * slash. None unless given.
   */
  readonly console?: ConsoleFiles | undefined

  /** An agent that is silent for this long is stale. 2 minutes unless given; at least 2 seconds. */
  readonly staleAfter?: DurationOption | undefined
  /** An agent silent for this long is dead, and an incident opens. 5 minutes unless given; longer than `staleAfter`. */
  readonly deadAfter?: DurationOption | undefined
  /** How long an acknowledgement lasts unless it says otherwise. 8 hours unless given. */
  readonly acknowledgedFor?: DurationOption | undefined
  /** How long an acknowledgement may last. 7 days unless given; not shorter than `acknowledgedFor`. */
  readonly longestAcknowledgement?: DurationOption | undefined
  /** How long a silence may last. 30 days unless given. */
  readonly longestSilence?: DurationOption | undefined
  /** Heartbeats of one key; `false` for no limit. 120 a minute, 60 at once unless given. */
  readonly heartbeatRate?: RateOption | false | undefined
  /** Registrations from one address; `false` for no limit. 600 a minute, 300 at once unless given. */
  readonly registrationRate?: RateOption | false | undefined
  /** Requests of one integration; `false` for no limit. 6,000 a minute, 3,000 at once unless given. */
  readonly integrationRate?: RateOption | false | undefined
  /** Its requests for one check; `false` for no limit. 60 a minute, 20 at once unless given. */
  readonly integrationCheckRate?: RateOption | false | undefined
  /** Registrations beyond this many pending agents are refused. 10,000 unless given. */
  readonly maxPendingAgents?: number | undefined
  /** Fingerprints (16 hex digits) of keys that Tocsin accepts without an operator. */
  readonly acceptFingerprints?: ReadonlyArray<string> | undefined
  readonly retention?: RetentionOption | undefined
  /** How many series of numbers over time are kept, up to 200,000. 20,000 unless given; 0 for none. */
  readonly numbersSeries?: number | undefined

  /** Whether this process sends notifications; processes on one storage share the work. True unless given. */
  readonly delivery?: boolean | undefined
  /** Whether this process finds dead agents and deletes expired rows. True unless given. */
  readonly housekeeping?: boolean | undefined
  /** Pings another system while all is well, and reports trouble. None unless given. */
  readonly watchdog?: WatchdogOption | undefined
  /**
   * How long a process may hold a notification. An attempt takes at most 15 s, or two thirds of this. 1 minute
   * unless given.
   */
  readonly deliveryLease?: DurationOption | undefined
  /** Attempts under way at each notifier, from 1 to 1000. 32 unless given. */
  readonly deliveryConcurrency?: number | undefined
  /** Time limit of the storage. 10 seconds unless given. */
  readonly storageTimeout?: DurationOption | undefined
  /** Peppers the hashes of agent keys. Never change it: all agent keys would become unknown. */
  readonly keyPepper?: string | undefined
  /**
   * Signs the links of receivers with `acknowledge`: 64 hex digits, the same in all processes. Without it, or
   * without `publicUrl`, messages have no such links.
   */
  readonly linkKey?: string | undefined
  /**
   * Where people reach `fetch` or `node`, `basePath` included: notifications then link to their incident. None
   * unless given.
   */
  readonly publicUrl?: string | undefined
  /** Whether notifications have details of the worst check: labels, output, source, times. True unless given. */
  readonly messageDetails?: boolean | undefined
  /** Refuses to send to private addresses. False unless given. */
  readonly denyPrivateTargets?: boolean | undefined
  /** Receives log entries. Standard error unless given; `false` for none. */
  readonly log?: Log | false | undefined
}
