import { type AgentId, type CheckId, isCheckId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import type { CheckResult } from "../../heart/checks/applyEvent.ts"
import type { ReportedAlertRecord } from "./ReportedAlertRecord.ts"
import type { Terms } from "../../heart/model/ExpectationRecord.ts"
import type { PagedTrigger } from "./PagedAlert.ts"
import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import { withNumbers } from "@tocsin/contract/formats/performanceData"
import { firstOutput } from "@tocsin/contract/formats/outputText"
import { withoutKeys } from "../../heart/operators/tokens.ts"

/** A request of a sender, without the part of its path that names the service and the key. */
export interface SenderRequest {
  readonly method: string
  /** The segments of the path after the key, decoded. */
  readonly path: ReadonlyArray<string>
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** The body as text; empty without one. */
  readonly body: string
  /** How many bytes of the body preceded its text. */
  readonly droppedBytes?: number
  /** The check whose alert the path names by the ID that its kind made of it, if the integration has it. */
  readonly alert?: CheckId | undefined
}

/** A request without the keys of integrations in it: what is made of it is stored, shown and sent on. */
export const withoutKeysIn = ({ body, path, query, ...rest }: SenderRequest): SenderRequest => ({
  ...rest,
  body: withoutKeys(body),
  path: path.map(withoutKeys),
  query: query.map(([name, value]) => [withoutKeys(name), withoutKeys(value)]),
})

interface OfCheck {
  readonly check_id: CheckId
  /** Ties the start of a run to its end; empty where the sender gives none. */
  readonly rid: string
  readonly expects: Expects
}

/** Of an alert: its source, and what that says of it. */
export type AlertAtSource = Pick<ReportedAlertRecord, "lease_millis" | "source"> &
  Partial<Pick<ReportedAlertRecord, "address">>

/** When the next report must follow. */
export type Expects =
  /** Terms as a declaration gives them; without any, the expectation stays. */
  | { readonly by: "terms"; readonly terms: Readonly<Record<string, string>> }
  /** An alert: while it fires, its source sends it again within the lease, if it repeats alerts at all. */
  | ({ readonly by: "source" } & AlertAtSource)
  /** The next report within a time, and no sooner than any check is overdue: then it has this severity, or unknown. */
  | ({ readonly by: "within"; readonly millis: number } & Partial<
      Pick<Terms, "grace_millis" | "incident" | "severity">
    >)

/** The expectation of a check stays as it is. */
export const NOTHING_EXPECTED: Expects = { by: "terms", terms: {} }

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
  extends
    OfCheck,
    Pick<CheckResultEvent, "exit_code" | "incident_key" | "output" | "output_truncated" | "status"> {
  readonly signal: "result"
  /** Zero where the sender states none: the start of its run then decides. */
  readonly duration_ms: number
  /** Labels of the check; absent where senders of the kind have none. */
  readonly labels?: Labels
  /** The text of a job and, if it failed, how it ended: the output, unless a log precedes it. */
  readonly job?: {
    readonly text: string
    readonly droppedBytes: number
    readonly end: string | undefined
  }
  /** The output where neither it nor a log before has a text. */
  readonly otherwise?: string
  /** Whether its text stands only where the check had another status: one that fails longer keeps its output. */
  readonly isTextKept?: true
  /** Whether it is ignored for a check that is not known. */
  readonly isOfKnownCheck?: boolean
  /** Its digest by {@link declare}, where its sender repeats it. */
  readonly declaration?: string
}

export type AnyReport = Report | Started | Logged

/** A request about an alert that does not state whether it fires. */
export interface Act {
  readonly check_id: CheckId
  readonly trigger: Exclude<PagedTrigger, "resolved" | "triggered">
  /** The note, if there is one. */
  readonly text?: string | undefined
  /** The part of the output that an amendment replaces: its first line, or the others. */
  readonly part?: "first" | "others" | undefined
}

/** Why a sender's request, or a part of it, is refused; or which part was ignored. */
export interface Refusal {
  readonly refused: "not_found" | "invalid" | "too_many_checks" | "ignored"
  readonly message: string
}

/** Why an integration with so many checks makes no further one. */
export const refusalOfFull = (most: number): Refusal => ({
  refused: "too_many_checks",
  message: `this integration has ${most === 1 ? "1 check" : `${most} checks`}, the most that it may have`,
})

export const eventOf = (report: Report, now: Instant.Instant): CheckResult => {
  const { incident_key, output = report.otherwise } = report
  return {
    event_id: undefined,
    observed_at: now,
    check_id: report.check_id,
    status: report.status,
    exit_code: report.exit_code,
    duration_ms: report.duration_ms,
    output_truncated: report.output_truncated,
    notifications_enabled: true,
    ...(output !== undefined && { output }),
    ...(incident_key !== undefined && { incident_key }),
  }
}

/** Leaves the numbers in an output that an integration keeps. */
export const numbersOf = ({ numbers }: IntegrationOptions): ((output: string) => string) => {
  if (numbers === undefined) return (output) => output
  const wanted = numbers.map(compileGlob)
  return (output) => withNumbers(output, (label) => wanted.some((matches) => matches(label)))
}

export interface Reading {
  readonly reports: ReadonlyArray<AnyReport>
  /** Parts that cannot be read. The others are stored nevertheless. */
  readonly refusals: ReadonlyArray<Refusal>
  readonly heard: ReadonlyArray<string>
  readonly act?: Act
  /** The address that its sender asks to open, before it sends anything. */
  readonly confirms?: string
  /** The answer once it is stored, where the protocol does not say the same to all. */
  readonly answer?: Answer
}

/** The answer to one request alone. */
export interface Answer {
  readonly status: 200 | 202
  readonly body: string
}

export const readingOf = (report: AnyReport, refusals: ReadonlyArray<Refusal> = []): Reading => ({
  reports: [report],
  refusals,
  heard: [],
})

/** The integration of a request, and when it arrived. */
export interface TranslationContext {
  readonly name: AgentId
  readonly options: IntegrationOptions
  readonly now: Instant.Instant
  readonly sha256: (text: string) => string
}

/** The reports in a request, or why it is refused. */
export type Translate = (request: SenderRequest, context: TranslationContext) => Reading | Refusal

export const NOT_FOUND: Refusal = { refused: "not_found", message: "not found" }

export const invalid = (message: string): Refusal => ({ refused: "invalid", message })

/** Stands for the labels and terms of a report. Hashing takes longer than parsing a request. */
export const declare = (
  labels: Labels | undefined,
  expects: Expects,
  sha256: (text: string) => string,
): string =>
  // An earlier version made no titles of labels.
  sha256(JSON.stringify([labels, expects, ...(labels?.["alertname"] ? ["titled"] : [])])).slice(0, 16)

const LONGEST_ID = 128
const HASH_DIGITS = 12
/** The characters that neither an ID nor the name of a label has. */
export const OUTSIDE = /[^A-Za-z0-9._:-]/gu

/** An ID of the characters of a name, which ends in digits of a hash. */
export const hashedId = (name: string, hash: string): CheckId => {
  const plain = name
    .toWellFormed()
    .replace(OUTSIDE, "_")
    .slice(0, LONGEST_ID - HASH_DIGITS - 1)
  // The characters that remain are those of an ID.
  return `${plain}.${hash.slice(0, HASH_DIGITS)}` as CheckId
}

/**
 * The ID of a check that a sender names (docs/rules.md#integrations). A name that is changed or too long
 * ends in digits of its hash, so that two names never become one.
 */
export const checkIdOf = (name: string, sha256: (text: string) => string): CheckId =>
  isCheckId(name) ? name : hashedId(name, sha256(name))

/** The ID of a check with a name of several parts. A colon in one of them would leave open which. */
export const checkIdOfParts = (parts: ReadonlyArray<string>, sha256: (text: string) => string): CheckId => {
  const name = parts.map((part) => (parts.length > 1 ? part.replaceAll(":", "_") : part)).join(":")
  return name === parts.join(":") ? checkIdOf(name, sha256) : hashedId(name, sha256(JSON.stringify(parts)))
}

/** The output of a bad result without a text: the sender's own word for its status. */
export const unexplained = (status: string, name = "status"): Pick<Report, "otherwise"> => ({
  otherwise: firstOutput(`${name} "${status}"`).output ?? "",
})
