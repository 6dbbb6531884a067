/// <reference lib="es2024.string" />
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import { firstOutput } from "@tocsin/contract/formats/outputText"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { checkLabels } from "../deriveCheck.ts"
import { checkIdOf, type Expects, NOTHING_EXPECTED, type Report } from "../Report.ts"
import { knownMail } from "./knownSenders.ts"
import type { SeenMail } from "./SeenMail.ts"
import { matchGlobs } from "./matchGlob.ts"
import type { MailRule } from "@tocsin/contract/integrations/MailOptions"
import { fieldOf } from "./Mail.ts"

/** The rule that counts for a mail. */
interface FoundRule {
  readonly by: `rule ${number}`
  readonly rule: MailRule
  /** The name of the check that it makes; empty if it makes none. */
  readonly check: string
}

/** The runs that the stars of a rule took of a mail, if all of its fields match. */
const takenBy = ({ match: { body, from, header = {}, subject } }: MailRule, seen: SeenMail) => {
  const taken: Array<string> = []
  const fits = (found: ReadonlyArray<string> | undefined): boolean => {
    if (found !== undefined) taken.push(...found)
    return found !== undefined
  }
  const ofLines = (globs: NonNullable<typeof body>) => {
    for (const line of seen.lines()) {
      const found = matchGlobs(globs, line)
      if (found !== undefined) return found
    }
    return undefined
  }
  const ofField = (name: string, globs: NonNullable<typeof body>) => {
    const named = seen.mail.fields.filter(([each]) => each === name.toLowerCase())
    for (const [, value] of named) {
      const found = matchGlobs(globs, value)
      if (found !== undefined) return found
    }
    return undefined
  }
  const isMatched =
    (subject === undefined || fits(matchGlobs(subject, seen.subject))) &&
    (body === undefined || fits(ofLines(body))) &&
    (from === undefined || fits(matchGlobs(from, seen.from))) &&
    Object.entries(header).every(([name, globs]) => fits(ofField(name, globs)))
  return isMatched ? taken : undefined
}

const NUMBERED = /\$([1-9])/gu

/** The first rule whose match holds in all of its fields. */
const ruleFor = (seen: SeenMail, rules: ReadonlyArray<MailRule>): FoundRule | undefined => {
  for (const [index, rule] of rules.entries()) {
    const taken = takenBy(rule, seen)
    if (taken === undefined) continue
    const check = (rule.check ?? "").replaceAll(
      NUMBERED,
      (_, place: string) => taken[Number(place) - 1] ?? "",
    )
    return { by: `rule ${index + 1}`, rule, check: check.trim() }
  }
  return undefined
}

/** Whether a mail was sent by a Tocsin, so that two of them never answer each other. */
const isOfTocsin = (seen: SeenMail): boolean => {
  const list = fieldOf(seen.mail, "list-id")
  return (/<([^<>]*)>/u.exec(list)?.[1] ?? list).trim().toLowerCase().startsWith("tocsin.")
}

/** Why a mail that no rule expects is no report: a program answered another mail with it. */
const isReply = ({ mail }: SeenMail): boolean =>
  mail.isReport || /^auto-replied\b/iu.test(fieldOf(mail, "auto-submitted").trim())

/** Words of a subject; those that end in a star begin like that. */
const FAILED = ["fail*", "error*", "critical", "problem*", "down", "lost", "degraded", "unsuccess*", "not"]
const WARNED = ["warn*"]
const RECOVERED = "ok recover* resolved restored returned cleared succe* completed up online".split(" ")
/** Directly before a word of a failure, these say that there is none. */
const NONE: ReadonlySet<string> = new Set(["0", "no", "without"])

const isOf = (known: ReadonlyArray<string>, word: string): boolean =>
  known.some((each) => (each.endsWith("*") ? word.startsWith(each.slice(0, -1)) : word === each))

/** The status that the words of a subject state: of failures first, then of warnings, then of recoveries. */
const statusByWords = (
  subject: string,
  { failed, recovered, status = "critical" }: Pick<IntegrationOptions, "failed" | "recovered" | "status">,
): CheckStatus => {
  const words = subject.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const hasFailed =
    failed === undefined
      ? words.some((word, at) => isOf(FAILED, word) && !NONE.has(words[at - 1] ?? ""))
      : matchGlobs(failed, subject) !== undefined
  if (hasFailed) return "critical"
  if (words.some((word) => isOf(WARNED, word))) return "warning"
  const hasRecovered =
    recovered === undefined
      ? words.some((word) => isOf(RECOVERED, word))
      : matchGlobs(recovered, subject) !== undefined
  return hasRecovered ? "ok" : status
}

/** The decision about a mail (docs/rules.md#mail). */
export type MailDecision =
  | { readonly outcome: "ignored"; readonly by: string; readonly reason: string }
  | {
      readonly outcome: "applied"
      readonly by: string
      readonly report: Report
      /** Whether the check is named by its sender and subject. */
      readonly isBySubject: boolean
    }

export interface MailContext {
  readonly options: IntegrationOptions
  readonly sha256: (text: string) => string
  /** The name of a check in the address; empty without one. */
  readonly check: string
}

interface Named {
  readonly name: string
  readonly title: string | undefined
  readonly isBySubject: boolean
}

const nameOf = (names: ReadonlyArray<string | undefined>, { from, subject }: SeenMail): Named => {
  const name = names.find((each) => each !== undefined && each !== "")
  if (name === undefined) return { name: `${from} ${subject}`, title: from, isBySubject: true }
  return { name, title: undefined, isBySubject: false }
}

const ignored = (by: string, reason: string): MailDecision => ({ outcome: "ignored", by, reason })

/** When the next mail about a check must follow. */
export const expectsOf = ({ expect }: IntegrationOptions): Expects => {
  if (expect === undefined) return NOTHING_EXPECTED
  return { by: "terms", terms: { incident: "own", ...expect } }
}

const reportOf = (
  seen: SeenMail,
  { isBySubject, name, title }: Named,
  given: {
    readonly status: CheckStatus
    readonly host: string | undefined
    readonly isOfKnownCheck: boolean
  },
  { options, sha256 }: MailContext,
): Report => {
  const { host, isOfKnownCheck, status } = given
  const check_id: CheckId = checkIdOf(name, sha256)
  const shown = title ?? (check_id === name ? undefined : name)
  const labels = {
    from: seen.from,
    ...(host !== undefined && { host }),
    ...(shown !== undefined && { title: shown }),
  }
  const text = seen.mail.text.trim()
  return {
    signal: "result",
    check_id,
    rid: "",
    expects: isBySubject ? NOTHING_EXPECTED : expectsOf(options),
    status,
    exit_code: EXIT_CODES[status],
    duration_ms: 0,
    labels: checkLabels(labels, "", Object.keys(labels), options),
    isOfKnownCheck,
    ...firstOutput(text === "" ? seen.subject : `${seen.subject}\n${text}`),
  }
}

/**
 * Decides about a mail by the first that says something: a rule, the form of a known program, the name in the address,
 * the subject. What one leaves open, the next decides; the status last by words of the subject.
 */
export const decideMail = (seen: SeenMail, context: MailContext): MailDecision => {
  const { check, options } = context
  const byAddress = check === "" ? "subject" : "address"
  if (isOfTocsin(seen)) return ignored(byAddress, "a Tocsin sent it")
  const found = ruleFor(seen, options.rules ?? [])
  if (found === undefined && isReply(seen))
    return ignored(byAddress, "a program answered another mail with it, and no rule fits")
  const known = knownMail(seen)
  const by = found?.by ?? known?.by ?? byAddress
  const given = found?.rule.status ?? known?.status
  if (given === "ignore")
    return ignored(
      by,
      found?.rule.status === "ignore" ? "a rule ignores it" : `${known?.by} sends these whatever happens`,
    )
  const named = nameOf([found?.check, known?.check, check], seen)
  const status = given ?? statusByWords(seen.subject, options)
  const ofKnown = { status, host: known?.host, isOfKnownCheck: status === "ok" && by === "subject" }
  return {
    outcome: "applied",
    by,
    report: reportOf(seen, named, ofKnown, context),
    isBySubject: named.isBySubject,
  }
}
