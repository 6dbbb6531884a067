import type { Instant } from "@tocsin/contract/formats/Instant"
import type { RateLimit } from "../../ports/RuleSettings.ts"

/** Whether a request may proceed, or after how many seconds it may. */
export type Permission =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number }

interface Bucket {
  /** In parts of a token: a microsecond adds a whole number of parts, so the sum is exact. */
  parts: number
  refilledAt: Instant
}

/** A rate of one token a minute adds one part a microsecond. */
const PARTS_PER_TOKEN = 60_000_000
const MICROS_PER_SECOND = 1_000_000

/**
 * Token buckets by name, in bounded memory: beyond `capacity` names, the least recently used is
 * forgotten, which starts it again with a full bucket. A rate of 0 allows everything. Each replica
 * limits its own requests (docs/rules.md#rate-limits).
 */
export class TokenBuckets {
  // A Map keeps insertion order, so its first entry is the least recently used.
  readonly #buckets = new Map<string, Bucket>()
  readonly #limit: RateLimit
  readonly #capacity: number

  constructor(limit: RateLimit, capacity: number) {
    this.#limit = limit
    this.#capacity = capacity
  }

  /** Whether the bucket of `name` has this many tokens, which stay there. */
  permission(name: string, now: Instant, tokens = 1): Permission {
    const { perMinute } = this.#limit
    if (perMinute === 0) return { allowed: true }
    const bucket = this.#refilled(name, now)
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    this.#forgetOldest()
    const missing = tokens * PARTS_PER_TOKEN - bucket.parts
    if (missing <= 0) return { allowed: true }
    return { allowed: false, retryAfterSeconds: Math.ceil(missing / (perMinute * MICROS_PER_SECOND)) }
  }

  /** Takes this many tokens from the bucket of `name`, all or none. */
  take(name: string, now: Instant, tokens = 1): Permission {
    const permission = this.permission(name, now, tokens)
    if (permission.allowed) this.#remove(name, tokens)
    return permission
  }

  /** Takes tokens that were used already: the bucket may be in debt. */
  spend(name: string, now: Instant, tokens: number): void {
    this.permission(name, now)
    this.#remove(name, tokens)
  }

  #remove(name: string, tokens: number): void {
    const bucket = this.#buckets.get(name)
    if (bucket !== undefined) bucket.parts -= tokens * PARTS_PER_TOKEN
  }

  #refilled(name: string, now: Instant): Bucket {
    const { perMinute, burst } = this.#limit
    const bucket = this.#buckets.get(name)
    const full = burst * PARTS_PER_TOKEN
    if (bucket === undefined) return { parts: full, refilledAt: now }
    // A clock set back adds and removes nothing.
    const elapsed = Math.max(0, Number(now - bucket.refilledAt))
    bucket.parts = Math.min(full, bucket.parts + elapsed * perMinute)
    bucket.refilledAt = now
    return bucket
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= this.#capacity) return
    const oldest = this.#buckets.keys().next()
    if (oldest.done !== true) this.#buckets.delete(oldest.value)
  }
}
