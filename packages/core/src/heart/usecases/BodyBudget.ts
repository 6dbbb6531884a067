import { Effect, type Redacted } from "effect"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import type { KeyHash } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { InstrumentsOf } from "../../kernel/engine/metrics/Instruments.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import type { RateLimit, RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import type {
  AgentBlocked,
  AgentNotAccepted,
  NotAnAgentKey,
  RateLimited,
} from "../admission/AdmissionErrors.ts"
import { keyState } from "../admission/agentKeys.ts"
import { blocked, notAccepted, tooMany, unlessUnknown } from "./ingestReplies.ts"
import { type Permission, TokenBuckets } from "../../kernel/engine/limits/TokenBuckets.ts"
import { isTokenOf } from "../operators/tokens.ts"
import type { requestMetrics } from "./requestMetrics.ts"

/** Recently used names. The older of two generations is dropped whole, so that a lookup never reorders. */
export class RecentNames {
  #young = new Set<string>()
  #old = new Set<string>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(name: string): boolean {
    if (this.#young.has(name)) return true
    if (!this.#old.has(name)) return false
    this.add(name)
    return true
  }

  add(name: string): void {
    if (this.#young.size >= this.#capacity / 2 && !this.#young.has(name)) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(name)
  }

  /** An upper bound: a name in both generations counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  delete(name: string): void {
    this.#young.delete(name)
    this.#old.delete(name)
  }
}

/** One line a minute for each client address: a flood of requests does not flood the log. */
const LINES = { perMinute: 1, burst: 1 }
const LOGGED_ADDRESSES = 10_000

/** The approximate cost of a request besides its body: many small requests are limited too. */
const REQUEST_BYTES = 4_096

/** Four of the largest bodies, or a thousand heartbeats: one address cannot fill the server's queue. */
const BYTES_AT_ONCE = 4 * 1_048_576

/** A body without a length holds so many bytes until it is read: one address has at most half of the server's queue. */
const UNSTATED_BYTES = 262_144

// At most about 10 MB.
const ADDRESSES_KEPT = 50_000

const LATER: Permission = { allowed: false, retryAfterSeconds: 1 }

/**
 * Limits what client addresses send with keys that are not accepted: bytes over time, and bytes of
 * unanswered requests.
 */
export class UnknownSenders {
  readonly #volumes: TokenBuckets
  readonly #isUnlimited: boolean
  /** Bytes of unanswered requests by address. */
  readonly #underWay = new Map<string, number>()

  constructor(volume: RateLimit) {
    this.#volumes = new TokenBuckets(volume, ADDRESSES_KEPT)
    this.#isUnlimited = volume.perMinute === 0
  }

  /** Admits a request with a body of this size, or of one that it does not state. Release it once it is answered. */
  take(address: string, bytes: number | undefined, now: Instant.Instant): Permission {
    const held = this.#heldWith(address, bytes, 1)
    if (!this.#isUnlimited && held > BYTES_AT_ONCE) return LATER
    const permission = this.#volumes.take(address, now, (bytes ?? 0) + REQUEST_BYTES)
    if (permission.allowed) this.#underWay.set(address, held)
    return permission
  }

  /** `read` is the length of a body that stated none: it counts now, also beyond the limit. */
  release(address: string, bytes: number | undefined, read: number, now: Instant.Instant): void {
    this.#leave(address, bytes)
    if (bytes === undefined) this.#volumes.spend(address, now, read)
  }

  /** Releases a request whose body had a key that is valid after all: it counts as if it had never come. */
  forgive(address: string, bytes: number | undefined, now: Instant.Instant): void {
    this.#leave(address, bytes)
    this.#volumes.spend(address, now, -(bytes ?? 0) - REQUEST_BYTES)
  }

  #leave(address: string, bytes: number | undefined): void {
    const held = this.#heldWith(address, bytes, -1)
    if (held > 0) this.#underWay.set(address, held)
    else this.#underWay.delete(address)
  }

  #heldWith(address: string, bytes = UNSTATED_BYTES, change: 1 | -1): number {
    return (this.#underWay.get(address) ?? 0) + change * (bytes + REQUEST_BYTES)
  }

  get addressesUnderWay(): number {
    return this.#underWay.size
  }
}

export interface Arrival {
  readonly key: Redacted.Redacted
  /** The client's address; requests without one are not limited. */
  readonly address: string | undefined
  /** Length of the body by its headers; absent where they state none. */
  readonly bytes: number | undefined
}

export interface Visit {
  /**
   * Call when the request is answered or its client has disconnected, with how much of a body without a length
   * was read. Idempotent.
   */
  readonly leave: (read?: number) => void
}

/** The visit of a body that has its key inside. */
export interface UnnamedVisit extends Visit {
  /** Leaves as a sender whose key is valid: its data does not count. */
  readonly forgive: () => void
}

const FREE: UnnamedVisit = { leave: () => {}, forgive: () => {} }

// At most about 10 MB.
const KEYS_KEPT = 50_000

interface Refused {
  readonly address: string
  readonly retryAfterSeconds: number
}

interface Needed {
  readonly commits: Commits["Service"]
  readonly hashing: Hashing["Service"]
  readonly rules: RuleOptions
  readonly instruments: Pick<InstrumentsOf<typeof requestMetrics>, "throttled">
}

/**
 * Decides whether to read a body. Accepted keys always pass. All others share a budget per client
 * address, so that invented keys cannot keep the process busy with parsing. A key counts as
 * accepted once this process has taken data from it; the storage is asked only when the address has
 * used up its budget.
 */
export class BodyBudget {
  readonly #accepted = new RecentNames(KEYS_KEPT)
  readonly #unknown: UnknownSenders
  readonly #logLines = new TokenBuckets(LINES, LOGGED_ADDRESSES)
  readonly #needed: Needed

  constructor(needed: Needed) {
    this.#needed = needed
    this.#unknown = new UnknownSenders(needed.rules.unknownKeyVolume)
  }

  note(key: KeyHash, isAccepted: boolean): void {
    if (!isAccepted) this.#accepted.delete(key)
    else if (!this.#accepted.has(key)) this.#accepted.add(key)
  }

  /** Admits a request without asking the storage; otherwise use the two below. */
  tryEnter(arrival: Arrival, now: () => Instant.Instant): Visit | undefined {
    if (this.#mayBeOperators(arrival.key)) return undefined
    const entry = this.#enter(arrival, now)
    return "leave" in entry ? entry : undefined
  }

  enterHeartbeat(
    arrival: Arrival,
  ): Effect.Effect<Visit, AgentBlocked | NotAnAgentKey | RateLimited | StorageError> {
    return this.#unlessOperators(arrival, this.#examine(arrival, tooMany.ofUnknownKeys))
  }

  /** Admits a batch, or fails with the reason: it must be of an accepted key. */
  enterEvents(
    arrival: Arrival,
  ): Effect.Effect<Visit, AgentBlocked | AgentNotAccepted | NotAnAgentKey | StorageError> {
    return this.#unlessOperators(
      arrival,
      this.#examine(arrival, () => notAccepted),
    )
  }

  /** Whether a key has the shape of an operator's token and is not known as an agent's. */
  #mayBeOperators(key: Redacted.Redacted): boolean {
    return isTokenOf("operator", key) && !this.#isAccepted(key)
  }

  #isAccepted(key: Redacted.Redacted): boolean {
    return this.#accepted.has(this.#needed.hashing.identify(key).key_hash)
  }

  /** Refuses an operator's token before the body is read (docs/rules.md#operators). */
  #unlessOperators<E>({ key }: Arrival, entry: Effect.Effect<Visit, E>) {
    return Effect.suspend((): Effect.Effect<Visit, E | NotAnAgentKey | StorageError> => {
      if (!this.#mayBeOperators(key)) return entry
      const { commits, hashing } = this.#needed
      return unlessUnknown(commits.transact, hashing.identify(key).key_hash, entry)
    })
  }

  /** Admits a body of which only its beginning names the sender, or fails: its address has spent the budget. */
  enterUnnamed(arrival: Omit<Arrival, "key">): Effect.Effect<UnnamedVisit, RateLimited> {
    return Effect.flatMap(Instant.now, (now): Effect.Effect<UnnamedVisit, RateLimited> => {
      const entry = this.#enterUnknown(arrival, () => now)
      if ("leave" in entry) return Effect.succeed(entry)
      const refusal = tooMany.ofUnknownKeys(entry.retryAfterSeconds)
      return Effect.andThen(this.#noteRefusal(entry.address, now), refusal)
    })
  }

  #enter(arrival: Arrival, now: () => Instant.Instant): Visit | Refused {
    const isFree = arrival.address === undefined || this.#isAccepted(arrival.key)
    return isFree ? FREE : this.#enterUnknown(arrival, now)
  }

  #enterUnknown(
    { address, bytes }: Omit<Arrival, "key">,
    now: () => Instant.Instant,
  ): UnnamedVisit | Refused {
    if (address === undefined) return FREE
    const permission = this.#unknown.take(address, bytes, now())
    if (!permission.allowed) return { address, retryAfterSeconds: permission.retryAfterSeconds }
    let isInside = true
    const once = (end: () => void) => {
      if (isInside) end()
      isInside = false
    }
    return {
      leave: (read = 0) => once(() => this.#unknown.release(address, bytes, read, now())),
      forgive: () => once(() => this.#unknown.forgive(address, bytes, now())),
    }
  }

  #examine<E>(
    arrival: Arrival,
    saying: (retryAfterSeconds: number) => Effect.Effect<never, E>,
  ): Effect.Effect<Visit, AgentBlocked | E | StorageError> {
    return Effect.flatMap(Instant.now, (now): Effect.Effect<Visit, AgentBlocked | E | StorageError> => {
      const entry = this.#enter(arrival, () => now)
      if ("leave" in entry) return Effect.succeed(entry)
      const { commits, hashing } = this.#needed
      const { key_hash } = hashing.identify(arrival.key)
      const found = commits.transact(keyState(key_hash))
      return Effect.flatMap(found, (state): Effect.Effect<Visit, AgentBlocked | E> => {
        if (state !== "accepted") {
          const why: Effect.Effect<never, AgentBlocked | E> =
            state === "blocked" ? blocked : saying(entry.retryAfterSeconds)
          return Effect.andThen(this.#noteRefusal(entry.address, now), why)
        }
        this.note(key_hash, true)
        return Effect.succeed(FREE)
      })
    })
  }

  #noteRefusal(address: string, now: Instant.Instant): Effect.Effect<void> {
    this.#needed.instruments.throttled.unknown_key.value += 1
    return this.#logLines.take(address, now).allowed
      ? Effect.annotateLogs(Effect.logWarning("a client is throttled"), {
          client: address,
          reason: "unknown_key",
        })
      : Effect.void
  }
}
