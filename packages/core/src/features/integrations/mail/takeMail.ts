/// <reference lib="es2024.string" />
import { Duration } from "effect"
import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { MOST_KEPT_MAILS } from "@tocsin/contract/integrations/Mails"
import { utf8Length } from "@tocsin/contract/formats/outputText"
import type { AgentRecord } from "../../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../../heart/model/CheckRecord.ts"
import type { CheckRef } from "../../../kernel/model/CheckRef.ts"
import { type Decision, load } from "../../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../../kernel/unitOfWork/UnitOfWork.ts"
import type { Refusal } from "../Report.ts"
import { durationOf } from "../sources.ts"
import type { KeptMailRecord, KeptText } from "./KeptMailRecord.ts"
import type { Mail, MailField } from "./Mail.ts"
import type { MailInput } from "./MailInput.ts"
import type { MailedCheckRecord } from "./MailedCheckRecord.ts"
import type { SeenMail } from "./SeenMail.ts"

/** A Date counts within this before receipt. */
const DATED_WITHIN = Duration.days(5)

const countedDate = ({ sent_at }: Pick<Mail, "sent_at">, now: Instant.Instant): Instant.Instant | undefined =>
  sent_at !== undefined && sent_at <= now && sent_at >= Instant.minus(now, DATED_WITHIN) ? sent_at : undefined

/** Whether a check has applied a later mail of the same sender. */
export const isLate = (
  { from, mail }: Pick<SeenMail, "from" | "mail">,
  last: Pick<MailedCheckRecord, "sender" | "sent_at"> | undefined,
  now: Instant.Instant,
): boolean => {
  const sent = countedDate(mail, now)
  if (sent === undefined || last?.sent_at === undefined) return false
  return last.sender === from && sent < last.sent_at
}

/** Nothing else asks for a look; a change of options looks by itself. */
const SELDOM = Duration.days(31)

const resolveAfter = ({ resolve_after }: IntegrationOptions): Duration.Duration | undefined =>
  resolve_after === undefined ? undefined : Duration.millis(boundedMillis(resolve_after) ?? 0)

/** When a check that mails report is to be looked at: it is forgotten if it is ok, and becomes ok if it is not. */
export const dueAt = (
  { received_at, status }: Pick<CheckRecord, "received_at" | "status">,
  { is_by_subject }: Pick<MailedCheckRecord, "is_by_subject">,
  options: IntegrationOptions,
): Instant.Instant | undefined => {
  const after =
    status !== "ok" ? resolveAfter(options) : is_by_subject ? durationOf(options, "forget_after") : undefined
  return after && Instant.plus(received_at, after)
}

export const looksNext = (due: Instant.Instant | undefined, now: Instant.Instant): Instant.Instant =>
  due ?? Instant.plus(now, SELDOM)

const KEPT_BYTES = 8_000

/** The beginning of a text, within some bytes. */
const cut = (text: string, most: number): string => {
  const start = text.slice(0, most)
  const fits = utf8Length(start) <= most
  // A code unit takes three bytes at most.
  return (fits ? start : start.slice(0, Math.floor(most / 3))).toWellFormed()
}

const LONGEST_KEPT = 1_500
/** Without these, a trial of a kept mail would say something else than became of it. */
const DECIDING: ReadonlySet<string> = new Set(["from", "subject", "list-id", "auto-submitted", "x-mailer"])

/** As many fields as have room, in their order: those that decide, and the shortest. */
const keptFields = (fields: ReadonlyArray<MailField>): ReadonlyArray<MailField> => {
  const short = fields.map(([name, value]): MailField => [name, cut(value, LONGEST_KEPT)])
  const sizeOf = ([name, value]: MailField): number => utf8Length(name) + utf8Length(value)
  const rankOf = (field: MailField): number => (DECIDING.has(field[0]) ? 0 : sizeOf(field))
  let room = KEPT_BYTES
  const kept = new Set(
    short.toSorted((a, b) => rankOf(a) - rankOf(b)).filter((field) => (room -= sizeOf(field)) >= 0),
  )
  return short.filter((field) => kept.has(field))
}

const keptText = ({ check, seen: { mail } }: MailInput): KeptText => ({
  sender: mail.sender,
  fields: keptFields(mail.fields),
  text: cut(mail.text, KEPT_BYTES),
  ...(mail.isReport && { isReport: true }),
  ...(mail.sent_at !== undefined && { sent_at: Number(mail.sent_at) }),
  ...(check !== "" && { check }),
})

interface Taking {
  readonly agent: AgentRecord
  readonly options: IntegrationOptions
  /** Applies the mail's report, and returns why it is refused. */
  readonly apply: () => Decision<ReadonlyArray<Refusal>>
}

const LONGEST_SHOWN = 256

/** One mail in eight removes those that are kept no longer: their texts take a fifth of the time of a mail to load. */
const REMOVES_OLDEST = /[08]$/u

/** Kept mails in the order of lists. */
export const newestFirst = (mails: ReadonlyArray<KeptMailRecord>): ReadonlyArray<KeptMailRecord> =>
  mails.toSorted((a, b) => (a.id < b.id ? 1 : -1))

type Became = Pick<KeptMailRecord, "check_id" | "outcome" | "reason" | "status">

function* keep(
  unit: UnitOfWork,
  { agent, options }: Taking,
  read: MailInput,
  became: Became,
): Decision<void> {
  const integration = agent.agent_id
  const kept = unit.of("kept_mail")
  if (REMOVES_OLDEST.test(read.id)) {
    yield* load(unit, { groups: { kept_mail: [integration] } })
    for (const { id } of newestFirst(kept.group(integration)).slice(MOST_KEPT_MAILS - 1)) kept.delete(id)
  }
  const { unread } = read.seen.mail
  kept.put({
    id: read.id,
    integration,
    received_at: unit.now,
    sender: cut(read.seen.from, LONGEST_SHOWN),
    subject: cut(read.seen.subject, LONGEST_SHOWN),
    decided_by: read.decide(options).by,
    mail: keptText(read),
    ...became,
    reason: became.reason ?? unread,
  })
}

/**
 * Takes a mail: applies its report unless a later mail was applied before it, and keeps it for the page of its
 * integration. Needs the agent and the check.
 */
export function* takeMail(
  unit: UnitOfWork,
  read: MailInput,
  taking: Taking,
): Decision<ReadonlyArray<Refusal>> {
  const { apply, options } = taking
  const { agent_id, registration_id } = taking.agent
  const { seen } = read
  const decision = read.decide(options)
  if (decision.outcome === "ignored") {
    const { outcome, reason } = decision
    yield* keep(unit, taking, read, { outcome, reason, check_id: undefined, status: undefined })
    return unreadOf(seen)
  }
  const { check_id, status } = decision.report
  const ref: CheckRef = { agent_id, registration_id, check_id }
  yield* load(unit, { checks: { agent_id, check_ids: [check_id] }, rows: { mailed_check: [ref] } })
  const last = unit.of("mailed_check").get(ref)
  if (isLate(seen, last, unit.now)) {
    const reason = "a mail of this sender with a later Date was applied before"
    yield* keep(unit, taking, read, { outcome: "late", reason, check_id, status })
    return unreadOf(seen)
  }
  const refusals = yield* apply()
  const [refused] = refusals
  const check = unit.checks.get(ref)
  if (refused !== undefined || check === undefined) {
    const reason = refused?.message ?? "no check is to become ok by this subject"
    const outcome = refused === undefined ? "ignored" : "refused"
    yield* keep(unit, taking, read, { outcome, reason, check_id, status })
    return refused === undefined ? unreadOf(seen) : refusals
  }
  const mailed = { is_by_subject: decision.isBySubject }
  unit.of("mailed_check").put({
    ...ref,
    ...mailed,
    sender: seen.from,
    sent_at: countedDate(seen.mail, unit.now),
    next_evaluation_at: looksNext(dueAt(check, mailed, options), unit.now),
  })
  yield* keep(unit, taking, read, { outcome: "applied", reason: undefined, check_id, status })
  return unreadOf(seen)
}

/** Parts of a mail that could not be read, for the page of its integration. */
const unreadOf = ({ mail: { unread: message } }: SeenMail): ReadonlyArray<Refusal> =>
  message === undefined ? [] : [{ refused: "ignored", message }]
