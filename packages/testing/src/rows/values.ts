import type { CheckStatus, Severity } from "@tocsin/contract/formats/Status"
import { AgentId, CheckId, IncidentKey, KeyFingerprint, KeyHash } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import * as fc from "fast-check"

/** 0001-01-01T00:00:00.000000Z and 9999-12-31T23:59:59.999999Z. */
const [FIRST_MICROS, LAST_MICROS] = [-62_135_596_800_000_000n, 253_402_300_799_999_999n]

/** Any instant that the contract knows, often one at the ends. */
export const instant: fc.Arbitrary<Instant.Instant> = fc
  .oneof(
    fc.bigInt({ min: FIRST_MICROS, max: LAST_MICROS }),
    fc.constantFrom(FIRST_MICROS, LAST_MICROS, -1n, 0n),
  )
  .map(Instant.fromMicros)

/** Characters that are special in SQL, JSON, LIKE, arrays, copy formats or trimming. */
const ODD = [...`'"\\%_{}?\u007f\u0085\u2028\ufeff\uffff\ufffd`, "$1", ":x"]

const character = (first: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(" ", "a", "B", "9", ...ODD) },
    {
      weight: 2,
      arbitrary: fc.integer({ min: first, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
    },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    },
  )

/** A text without C0 controls and surrogates: a hostname, a label's value, an incident key. */
export const plain = (maxLength: number) => fc.string({ unit: character(0x20), minLength: 1, maxLength })

/** An output as it is stored: any characters but NUL and surrogates. */
export const output = fc.string({ unit: character(0x01), maxLength: 60 })

/** An agent_id or check_id, some of which other parties take for something else. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[A-Za-z0-9._:-]{1,60}$/) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "NULL", "null", "0", "-", "toString") },
)

/** So many hex digits. */
export const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits })
/** No two alike: rows of earlier runs are still there. */
export const uuid = fc.noBias(fc.uuid({ version: 7 }))
export const keyHash = hex(64).map((text) => KeyHash.make(text))
export const fingerprint = hex(16).map((text) => KeyFingerprint.make(text))
export const agentId = name.map((text) => AgentId.make(text))
export const checkId = name.map((text) => CheckId.make(text))
export const count = fc.nat({ max: 1_000_000 })

/** Now and then absent. */
export const maybe = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined })

export const labels: fc.Arbitrary<Labels> = fc
  .uniqueArray(fc.tuple(name, fc.oneof(plain(20), fc.constant(""))), {
    maxLength: 5,
    selector: ([key]) => key,
  })
  .map((entries) => Object.fromEntries(entries))

export const severity = fc.constantFrom<Severity>("warning", "critical", "unknown")
export const status = fc.constantFrom<CheckStatus>("ok", "warning", "critical", "unknown")

export const incidentKey = plain(256).map((text) => IncidentKey.make(text))
