import type { Instant } from "@tocsin/contract/Instant"
import type { RateLimit } from "../../ports/RuleSettings.ts"
import { type Permission, TokenBuckets } from "./TokenBuckets.ts"
import { Effect } from "effect"
import type { Instruments } from "../metrics/Instruments.ts"

/**
 * A set of recently used names in bounded memory, as two generations: the older one is dropped
 * whole, so that a lookup never reorders.
 */
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

/**
 * One line a minute for each client address, so that a flood of requests does not flood the log.
 */
const LINES = { perMinute: 1, burst: 1 }
const LOGGED_ADDRESSES = 10_000

/** Counts what clients send too much of with keys that are not accepted, and logs their addresses. */
export class ThrottledClients {
  readonly #counter: Instruments["throttled"]["unknown_key"]
  readonly #lines = new TokenBuckets(LINES, LOGGED_ADDRESSES)

  constructor({ throttled }: Pick<Instruments, "throttled">) {
    this.#counter = throttled.unknown_key
  }

  /** Records a refused request. */
  note(address: string, now: Instant): Effect.Effect<void> {
    this.#counter.value += 1
    return this.#lines.take(address, now).allowed
      ? Effect.annotateLogs(Effect.logWarning("a client is throttled"), {
          client: address,
          reason: "unknown_key",
        })
      : Effect.void
  }
}

/**
 * The approximate cost of a request besides its body, so that many small requests are limited too.
 */
const REQUEST_BYTES = 4_096

/**
 * Four bodies of the largest size, or a thousand heartbeats: one address cannot fill the server's
 * queue.
 */
const BYTES_AT_ONCE = 4 * 1_048_576

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

  /**
   * Admits a request with a body of this size, or not. Release an admitted request once it is
   * answered.
   */
  take(address: string, bytes: number, now: Instant): Permission {
    const cost = bytes + REQUEST_BYTES
    const held = this.#underWay.get(address) ?? 0
    if (!this.#isUnlimited && held + cost > BYTES_AT_ONCE) return LATER
    const permission = this.#volumes.take(address, now, cost)
    if (permission.allowed) this.#underWay.set(address, held + cost)
    return permission
  }

  /** Ends an admitted request. */
  release(address: string, bytes: number): void {
    const held = (this.#underWay.get(address) ?? 0) - bytes - REQUEST_BYTES
    if (held > 0) this.#underWay.set(address, held)
    else this.#underWay.delete(address)
  }

  /** How many addresses have unanswered requests. */
  get addressesUnderWay(): number {
    return this.#underWay.size
  }
}
