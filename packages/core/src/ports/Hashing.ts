import { Context, type Redacted } from "effect"
import type { KeyFingerprint, KeyHash } from "../contract/Identifiers.ts"

/** What is kept of an agent key: nothing that the key could be found from. */
export interface KeyIdentity {
  readonly key_hash: KeyHash
  readonly key_fingerprint: KeyFingerprint
}

/** Hashes, as pure synchronous functions. The pepper, if any, is in the implementation. */
export class Hashing extends Context.Service<
  Hashing,
  {
    /** SHA-256 (HMAC with the pepper where one is set) and fingerprint of an agent key (docs/rules.md#what-is-stored-of-a-key). */
    readonly identify: (key: Redacted.Redacted) => KeyIdentity
    /** SHA-256 of the UTF-8 bytes of `text`, in lower-case hex. */
    readonly sha256: (text: string) => string
    /** Tells one pepper from another without revealing it; equal for equal peppers, and for none (docs/rules.md#what-is-stored-of-a-key). */
    readonly pepperCheck: string
  }
>()("@tocsin/core/ports/Hashing") {}
