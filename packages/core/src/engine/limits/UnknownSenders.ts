import type { Instant } from "@tocsin/contract/Instant"
import type { RateLimit } from "../../ports/RuleSettings.ts"
import { type Permission, TokenBuckets } from "./TokenBuckets.ts"

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
