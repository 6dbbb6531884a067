import * as fc from "fast-check"
import { Schema } from "effect"
import { CheckResultEvent, type EventBatchRequest, HeartbeatRequest } from "../../src/v1/Requests.ts"
import { isSecretLikeLabelKey } from "../../src/labels/isSecretLikeLabelKey.ts"
import * as Instant from "../../src/formats/Instant.ts"

const FIRST_MICROS = -62_135_596_800_000_000n
const LAST_MICROS = 253_402_300_799_999_999n

/** Every instant that the contract knows: the years 0001 to 9999, to the microsecond. */
export const instant: fc.Arbitrary<Instant.Instant> = fc
  .bigInt({ min: FIRST_MICROS, max: LAST_MICROS })
  .map(Instant.fromMicros)

// Names that trip code which takes an object for a map.
const TREACHEROUS = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]

const nameOf = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.stringMatching(new RegExp(`^[A-Za-z0-9._:-]{1,${maxLength}}$`)) },
    { weight: 1, arbitrary: fc.constantFrom(...TREACHEROUS) },
  )

/** An agent_id or a check_id as it is on the wire. */
export const name: fc.Arbitrary<string> = nameOf(128)

const plainCharacter = fc
  .oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x7f, max: 0xd7ff }) },
    { weight: 1, arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }) },
  )
  .map((codePoint) => String.fromCodePoint(codePoint))

/** A text of at most `maxLength` code points without C0 controls and lone surrogates. */
export const plainText = (bounds: { readonly minLength?: number; readonly maxLength: number }) =>
  fc.string({ unit: plainCharacter, ...bounds })

/** A text of any code units: NUL, other controls and lone surrogates are likely. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.oneof(plainCharacter, fc.constantFrom("\0", "\u0001", "\ud800", "\udbff", "\udc00", "\udfff")),
    maxLength,
  })

/** Labels that the contract allows, `__proto__` and the like among their keys. */
export const labels: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .uniqueArray(
    fc.tuple(
      nameOf(64).filter((key) => !isSecretLikeLabelKey(key)),
      plainText({ maxLength: 256 }),
    ),
    { maxLength: 32, selector: ([key]) => key },
  )
  .map((entries) => Object.fromEntries(entries))

const checkStatus = fc.constantFrom(
  "ok" as const,
  "warning" as const,
  "critical" as const,
  "unknown" as const,
)

/** The encoded form of a valid HeartbeatRequest. */
export const heartbeatWire: fc.Arbitrary<typeof HeartbeatRequest.Encoded> = fc.record(
  {
    agent_id: name,
    observed_at: instant.map(Instant.format),
    hostname: plainText({ minLength: 1, maxLength: 253 }),
    features: fc.record({ push: fc.boolean(), metrics: fc.boolean() }),
    labels,
  },
  { requiredKeys: ["agent_id", "observed_at", "hostname", "features"] },
)

/** The encoded form of a valid CheckResultEvent. */
const eventWire: fc.Arbitrary<typeof CheckResultEvent.Encoded> = fc.record(
  {
    event_id: fc.uuid({ version: 7 }),
    check_id: name,
    observed_at: instant.map(Instant.format),
    status: checkStatus,
    exit_code: fc.maxSafeInteger(),
    duration_ms: fc.maxSafeNat(),
    output: anyText(200),
    output_truncated: fc.boolean(),
    notifications_enabled: fc.boolean(),
    incident_key: plainText({ minLength: 1, maxLength: 256 }),
  },
  { requiredKeys: ["event_id", "check_id", "observed_at", "status", "exit_code", "duration_ms"] },
)

/** The encoded form of a valid EventBatchRequest of at most `maxEvents` events. */
export const eventBatchWire = (maxEvents: number): fc.Arbitrary<typeof EventBatchRequest.Encoded> =>
  fc.record({ agent_id: name, events: fc.array(eventWire, { minLength: 1, maxLength: maxEvents }) })

/** A decoded HeartbeatRequest. */
export const heartbeatRequest: fc.Arbitrary<HeartbeatRequest> = heartbeatWire.map(
  Schema.decodeSync(HeartbeatRequest),
)

/** A decoded CheckResultEvent. */
export const checkResultEvent: fc.Arbitrary<CheckResultEvent> = eventWire.map(
  Schema.decodeSync(CheckResultEvent),
)
