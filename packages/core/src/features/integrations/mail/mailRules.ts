import type { MailRule } from "@tocsin/contract/integrations/MailOptions"
import { fieldOf } from "./Mail.ts"
import { matchGlobs } from "./matchGlob.ts"
import type { SeenMail } from "./SeenMail.ts"

/** The rule that counts for a mail. */
export interface FoundRule {
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
export const ruleFor = (seen: SeenMail, rules: ReadonlyArray<MailRule>): FoundRule | undefined => {
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
export const isOfTocsin = (seen: SeenMail): boolean => {
  const list = fieldOf(seen.mail, "list-id")
  return (/<([^<>]*)>/u.exec(list)?.[1] ?? list).trim().toLowerCase().startsWith("tocsin.")
}

/** Why a mail that no rule expects is no report: a program answered another mail with it. */
export const isReply = ({ mail }: SeenMail): boolean =>
  mail.isReport || /^auto-replied\b/iu.test(fieldOf(mail, "auto-submitted").trim())
