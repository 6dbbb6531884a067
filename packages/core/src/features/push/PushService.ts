import { Context, type Effect, type Redacted, type Result } from "effect"
import type { TestReceipt } from "../../heart/notifications/Notifiers.ts"

/** The address and the keys of a browser, as it gave them. */
export interface PushAddress {
  readonly endpoint: Redacted.Redacted
  readonly p256dh: Redacted.Redacted
  readonly auth: Redacted.Redacted
}

/** A key pair of P-256 by which push services know this installation (RFC 8292), both parts as base64url. */
export interface VapidKey {
  readonly public_key: string
  readonly private_key: Redacted.Redacted
}

export interface PushMessage {
  /** JSON. */
  readonly text: string
  readonly ttlSeconds: number
  readonly urgency: "high" | "normal"
  /** Messages of one topic replace each other at the push service, which learns nothing by it. */
  readonly about: string
}

/** The problem of a server that says to no push service whom it can write to. */
export const NO_CONTACT =
  "set SERVICE_PUSH_CONTACT to an address at which push services can write to you, such as mailto:ops@example.org, or save a public address that begins with https in Settings"

/** Writes to browsers by their push services (docs/rules.md#browsers). */
export interface PushService {
  /** Why it cannot by the settings of this process; they name the missing one. */
  readonly problem: () => string | undefined
  /** A new key pair. */
  readonly newKey: () => VapidKey
  /** Why keys of a browser are none; nothing if they are. */
  readonly keyProblem: (address: PushAddress) => string | undefined
  /** The host of an address, or why it is not allowed. */
  readonly hostOf: (address: PushAddress) => Result.Result<string, string>
  /** The secret text by which a browser proves that it has shown a message: 64 hex digits. */
  readonly proofOf: (address: PushAddress) => string
  /** Makes one attempt within 9 s. Never fails: errors are results, without an address. */
  readonly post: (to: PushAddress, key: VapidKey, message: PushMessage) => Effect.Effect<TestReceipt>
}

/** {@link PushService}; a program that gives none reaches no browsers. */
export const PushService = Context.Reference<PushService | undefined>(
  "@tocsin/core/features/push/PushService",
  { defaultValue: () => undefined },
)
