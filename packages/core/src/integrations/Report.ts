import { type CheckId, isCheckId } from "@tocsin/contract/Identifiers"
import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import type { CheckResultEvent } from "@tocsin/contract/Requests"
import { cleanOutput, isShortOutput, utf8Length } from "@tocsin/contract/Text"

/** A request of a sender, without the part of its path that names the service and the key. */
export interface SenderRequest {
  readonly method: string
  /** The segments of the path after the key, decoded. */
  readonly path: ReadonlyArray<string>
  /** The first value of each parameter. */
  readonly query: Readonly<Record<string, string>>
  /** The body as text; empty without one. */
  readonly body: string
}

/** A report on one check. */
interface OfCheck {
  readonly check_id: CheckId
  /** Ties the start of a run to its end; empty where the sender gives none. */
  readonly rid: string
  /** Terms of an expectation, as a declaration gives them; without any, the expectation stays. */
  readonly terms: Readonly<Record<string, string>>
}

/** A run of a check has begun: no result. */
export interface Started extends OfCheck {
  readonly signal: "start"
}

/** A text for the output of the next result: no result. */
export interface Logged extends OfCheck {
  readonly signal: "log"
  readonly text: string
}

/** A result of one check, as a sender reports it. */
export interface Report
  extends OfCheck, Pick<CheckResultEvent, "exit_code" | "output" | "output_truncated" | "status"> {
  readonly signal: "result"
  /** Zero where the sender states none: the start of its run then decides. */
  readonly duration_ms: number
}

/** Why a sender's request is refused. */
export interface Refusal {
  readonly refused: "not_found" | "invalid" | "too_many_checks"
  readonly message: string
}

/** The report in a request, or why it is refused. A pure function for each kind of integration. */
export type Translate = (
  request: SenderRequest,
  options: IntegrationOptions,
  sha256: (text: string) => string,
) => Report | Started | Logged | Refusal

const LONGEST_ID = 128
const HASH_DIGITS = 12
const OUTSIDE = /[^A-Za-z0-9._:-]/gu

/**
 * The ID of a check that a sender names (docs/rules.md#integrations). A name that is changed or too long
 * ends in digits of its hash, so that two names never become one.
 */
export const checkIdOf = (name: string, sha256: (text: string) => string): CheckId => {
  if (isCheckId(name)) return name
  const hash = sha256(name).slice(0, HASH_DIGITS)
  const plain = name
    .toWellFormed()
    .replace(OUTSIDE, "_")
    .slice(0, LONGEST_ID - HASH_DIGITS - 1)
  // The characters that remain are those of an ID.
  return `${plain}.${hash}` as CheckId
}

const MOST_BYTES = 8_192
const markerOf = (lost: number): string => `...[truncated ${lost} bytes]\n`

/** The end of a text that is too long for an output, cut between characters, behind a marker. */
export const lastOutput = (text: string): Pick<Report, "output" | "output_truncated"> => {
  if (text === "") return { output_truncated: false }
  if (isShortOutput(text)) return { output: cleanOutput(text), output_truncated: false }
  const all = utf8Length(text)
  const room = MOST_BYTES - markerOf(all).length
  let [start, kept] = [text.length, 0]
  for (;;) {
    // A pair of surrogates is one character.
    const before = (text.codePointAt(start - 2) ?? 0) > 0xffff ? start - 2 : start - 1
    const size = utf8Length(text.slice(before, start))
    if (kept + size > room) break
    kept += size
    start = before
  }
  return { output: markerOf(all - kept) + cleanOutput(text.slice(start)), output_truncated: true }
}
