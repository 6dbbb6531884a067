import { Schema } from "effect"
import { named } from "./Fields.ts"
import { isPlainText, plainText } from "./Text.ts"

/** A name of at most so many characters. */
export const isNameUpTo = (most: number) =>
  Schema.isPattern(new RegExp(`^[A-Za-z0-9._:-]{1,${most}}$`, "u"), {
    expected: `1 to ${most} letters, digits or the characters . _ : -`,
    toJsonSchema: () => ({ maxLength: most, pattern: "^[A-Za-z0-9._:-]+$" }),
  })

const NAME = /^[A-Za-z0-9._:-]{1,128}$/u
const isName = isNameUpTo(128)

/** Names a monitored host or process; chosen by its operator (docs/rules.md#values). */
export const AgentId = Schema.String.check(
  isName.annotate(named("AgentId", "Names an agent; chosen by its operator.")),
).pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type
/** Whether a value is an {@link AgentId}; faster than the schema. */
export const isAgentId = (value: unknown): value is AgentId => typeof value === "string" && NAME.test(value)

/** Names one check of an agent (docs/rules.md#values). */
export const CheckId = Schema.String.check(
  isName.annotate(named("CheckId", "Names one check of an agent.")),
).pipe(Schema.brand("CheckId"))
export type CheckId = typeof CheckId.Type
/** Whether a value is a {@link CheckId}; faster than the schema. */
export const isCheckId = (value: unknown): value is CheckId => typeof value === "string" && NAME.test(value)

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u
const isUuidV7 = Schema.isPattern(UUID_V7, {
  expected: "a lower-case UUID version 7 with dashes (36 characters)",
  toJsonSchema: () => ({ format: "uuid", pattern: UUID_V7.source }),
})

export const uuidOf = (identifier: string, thing: string) =>
  Schema.String.check(isUuidV7.annotate({ identifier, description: `Names ${thing}: a UUID version 7.` }))

/** The sender's ID of one check result, for deduplication (RFC 9562, version 7). */
export const EventId = Schema.String.check(
  isUuidV7.annotate({
    identifier: "EventId",
    description:
      "The sender's id of one check result: a lower-case UUID version 7. A repeated id is not stored twice.",
  }),
).pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type
/** Whether a value is an {@link EventId}; faster than the schema. */
export const isEventId = (value: unknown): value is EventId =>
  typeof value === "string" && UUID_V7.test(value)

/** ID of an incident: UUIDv7, lower case (docs/rules.md#ids). */
export const IncidentId = uuidOf("IncidentId", "an incident").pipe(Schema.brand("IncidentId"))
export type IncidentId = typeof IncidentId.Type

/** ID of a notification, constant over all attempts, so that receivers can deduplicate (docs/rules.md#delivery). */
export const OutboxId = uuidOf("OutboxId", "a notification").pipe(Schema.brand("OutboxId"))
export type OutboxId = typeof OutboxId.Type

/**
 * Internal ID of one registration of an agent. An agent that is deleted and registers again gets a
 * new one, so it inherits nothing (docs/rules.md#deleting-an-agent). Never leaves the service.
 */
export const RegistrationId = Schema.String.check(isUuidV7).pipe(Schema.brand("RegistrationId"))
export type RegistrationId = typeof RegistrationId.Type

/** An ID of 32 hex digits, derived from the token of the thing. */
export const tokenIdOf = (identifier: string, thing: string) =>
  Schema.String.check(
    Schema.isPattern(/^[0-9a-f]{32}$/u, {
      identifier,
      description: `Names ${thing}.`,
      expected: `the ID of ${thing}: 32 hexadecimal digits`,
    }),
  )

const isHex = (digits: number) =>
  Schema.isPattern(new RegExp(`^[0-9a-f]{${digits}}$`, "u"), {
    expected: `${digits} lower-case hex digits`,
  })

/** SHA-256 of an agent key in hex, or HMAC-SHA-256 with a pepper (docs/rules.md#what-is-stored-of-a-key). */
export const KeyHash = Schema.String.check(isHex(64)).pipe(Schema.brand("KeyHash"))
export type KeyHash = typeof KeyHash.Type

/**
 * First 16 hex digits of the SHA-256 of an agent key, for people to compare
 * (docs/rules.md#what-is-stored-of-a-key).
 */
export const KeyFingerprint = Schema.String.check(
  isHex(16).annotate({
    identifier: "KeyFingerprint",
    description: "The first 16 hex digits of the SHA-256 of an agent key: what people on both sides compare.",
  }),
).pipe(Schema.brand("KeyFingerprint"))
export type KeyFingerprint = typeof KeyFingerprint.Type

/** ID of a blacklist row: SHA-256 of `bl1:` and the key hash, in hex (docs/rules.md#what-is-stored-of-a-key). */
export const BlacklistId = Schema.String.check(
  isHex(64).annotate(named("BlacklistId", "Names a row of the blacklist; opaque.")),
).pipe(Schema.brand("BlacklistId"))
export type BlacklistId = typeof BlacklistId.Type

const KEY_LENGTH = { min: 1, max: 256 }
const KEY_TEXT = plainText(KEY_LENGTH)

/** The key of an incident: 1 to 256 characters (docs/rules.md#values, docs/rules.md#numbers-and-text). */
export const IncidentKey = Schema.String.check(
  isPlainText(KEY_LENGTH).annotate({
    identifier: "IncidentKey",
    description:
      "The key that the checks of one incident share: named by their events, or made by the service.",
  }),
).pipe(Schema.brand("IncidentKey"))
export type IncidentKey = typeof IncidentKey.Type
/** Whether a value is an {@link IncidentKey}; faster than the schema. */
export const isIncidentKey = (value: unknown): value is IncidentKey =>
  typeof value === "string" && KEY_TEXT.test(value)
