import type { Instant } from "../contract/Instant.ts"

/** How fast tokens come back, and how many there can be. */
export interface RateLimit {
  readonly perMinute: number
  readonly burst: number
}

/** Whether a request may go on, or after how many seconds one may. */
export type Permission = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterSeconds: number }

interface Bucket {
  tokens: number
  refilledAt: Instant
}

const MICROS_PER_MINUTE = 60_000_000
const SECONDS_PER_MINUTE = 60

/**
 * Token buckets by name, in bounded memory: of more than `capacity` names the one not used for longest is forgotten, which
 * can only be generous to it. A limit of 0 a minute allows everything. Not shared between processes: each replica limits
 * what it takes itself (decisions §4).
 */
export class TokenBuckets {
  // A Map keeps insertion order, so that its first entry is the one not used for longest.
  readonly #buckets = new Map<string, Bucket>()
  readonly #limit: RateLimit
  readonly #capacity: number

  constructor(limit: RateLimit, capacity: number) {
    this.#limit = limit
    this.#capacity = capacity
  }

  /** Takes a token of `name`'s bucket, if there is one. */
  take(name: string, now: Instant): Permission {
    const { perMinute } = this.#limit
    if (perMinute === 0) return { allowed: true }
    const bucket = this.#refilled(name, now)
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    this.#forgetOldest()
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1
      return { allowed: true }
    }
    const seconds = ((1 - bucket.tokens) * SECONDS_PER_MINUTE) / perMinute
    return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(seconds)) }
  }

  #refilled(name: string, now: Instant): Bucket {
    const { perMinute, burst } = this.#limit
    const bucket = this.#buckets.get(name)
    if (bucket === undefined) return { tokens: burst, refilledAt: now }
    // A clock that was set back refills nothing, and takes nothing away.
    const elapsed = Math.max(0, Number(now - bucket.refilledAt))
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsed * perMinute) / MICROS_PER_MINUTE)
    bucket.refilledAt = now
    return bucket
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= this.#capacity) return
    const oldest = this.#buckets.keys().next()
    if (oldest.done !== true) this.#buckets.delete(oldest.value)
  }
}
