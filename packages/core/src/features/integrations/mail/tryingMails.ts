import { Duration, Effect, Result, Schema, SchemaParser } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import {
  type KeptMails,
  type MailId,
  MOST_KEPT_MAILS,
  type TriedMail,
  type TryMailRequest,
} from "@tocsin/contract/integrations/Mails"
import { NotFound, StateConflict } from "../../../kernel/engine/OperationErrors.ts"
import { commandOf, load, readRow } from "../../../kernel/unitOfWork/Decision.ts"
import { newId } from "../../../kernel/ports/Ids.ts"
import { checkCount } from "../applyReports.ts"
import type { IntegrationRecord } from "../IntegrationRecord.ts"
import { KINDS, optionProblem } from "../kinds.ts"
import { refusalOfFull } from "../Report.ts"
import type { MailDecision } from "./decideMail.ts"
import { type KeptMailRecord, toKeptMail } from "./KeptMailRecord.ts"
import { type Mail, MailReader } from "./Mail.ts"
import { mailInput } from "./MailInput.ts"
import type { SeenMail } from "./SeenMail.ts"
import { isLate, newestFirst } from "./takeMail.ts"
import { operationPorts } from "../../../heart/usecases/operationPorts.ts"

/** The kept mails of an integration, and whether there is one of this name. Changes nothing. */
const readMails = commandOf(function* (unit, name: AgentId) {
  yield* load(unit, { rows: { integration: [name] }, groups: { kept_mail: [name] } })
  return unit.of("integration").get(name) && unit.of("kept_mail").group(name)
})

export const noSuchIntegration = () =>
  new NotFound({ message: "no integration has this name; list integrations with GET /ops/v1/integrations" })

const decodeMail = SchemaParser.decodeResult(Schema.Uint8ArrayFromBase64)

const NO_SUCH_MAIL = new NotFound({
  message: "no mail has this id any more; list mails with GET /ops/v1/integrations/NAME/mails",
})

const NO_READER = new StateConflict({
  message: "this server reads no mails: set SERVICE_MAIL_PORT, or try a kept mail by its id",
})

const ofKept = ({ mail }: KeptMailRecord): Mail => ({
  sender: mail.sender,
  fields: mail.fields,
  text: mail.text,
  isReport: mail.isReport === true,
  sent_at: mail.sent_at === undefined ? undefined : Instant.fromMicros(BigInt(mail.sent_at)),
})

/** The outcome that a mail would have by the present state of its check. */
const readCheck = commandOf(function* (
  unit,
  name: AgentId,
  decision: MailDecision,
  seen: SeenMail,
  most: number,
) {
  if (decision.outcome === "ignored") return decision
  const { check_id, isOfKnownCheck } = decision.report
  yield* load(unit, { agents: [name], checks: { agent_id: name, check_ids: [check_id] } })
  const agent = unit.agents.get(name)
  if (agent === undefined) return { outcome: "refused", reason: "the integration is closed" } as const
  const ref = { agent_id: name, registration_id: agent.registration_id, check_id }
  yield* load(unit, { rows: { mailed_check: [ref] } })
  if (isLate(seen, unit.of("mailed_check").get(ref), unit.now))
    return { outcome: "late", reason: "a mail of this sender with a later Date was applied before" } as const
  if (unit.checks.get(ref) !== undefined) return { outcome: "applied" } as const
  if (isOfKnownCheck === true)
    return { outcome: "ignored", reason: "no check is to become ok by this subject" } as const
  return checkCount(agent) < most
    ? ({ outcome: "applied" } as const)
    : ({ outcome: "refused", reason: refusalOfFull(most).message } as const)
})

/** Kept mails of integrations, and trials of mails (docs/rules.md#mail). */
export const tryingMails = Effect.gen(function* () {
  const { commits, ids, rules, sha256 } = yield* operationPorts
  const usualReader = yield* MailReader
  const newMailId = newId<MailId>(ids)

  const mailOf = Effect.fnUntraced(function* (name: AgentId, { id, mail }: TryMailRequest) {
    if (id !== undefined) {
      const kept = yield* commits.transact(readRow("kept_mail", id))
      if (kept?.integration !== name) return yield* NO_SUCH_MAIL
      return { mail: ofKept(kept), check: kept.mail.check ?? "" }
    }
    if (mail === undefined) return yield* new ValidationError({ message: "mail must be given, or id" })
    const bytes = decodeMail(mail)
    if (Result.isFailure(bytes)) return yield* new ValidationError({ message: "mail must be base64" })
    // A command brings its own.
    const readMail = (yield* MailReader) ?? usualReader
    if (readMail === undefined) return yield* NO_READER
    return { mail: yield* readMail(bytes.success, ""), check: "" }
  })

  const tried = Effect.fnUntraced(function* (
    integration: Pick<IntegrationRecord, "name" | "options">,
    given: { readonly mail: Mail; readonly check: string },
  ) {
    const { name, options } = integration
    const input = mailInput({ ...given, id: newMailId(yield* Instant.now) }, sha256)
    const decision = input.decide(options)
    const { max_checks: most = KINDS.mail.mostChecks } = options
    const became = yield* commits.transact(readCheck(name, decision, input.seen, most))
    const reason = ("reason" in became ? became.reason : undefined) ?? input.seen.mail.unread
    const answer: TriedMail = {
      outcome: became.outcome,
      by: decision.by,
      ...(reason !== undefined && { reason }),
      ...(decision.outcome === "applied" && {
        check_id: decision.report.check_id,
        status: decision.report.status,
        output: decision.report.output ?? "",
        labels: decision.report.labels ?? {},
      }),
    }
    return answer
  })

  return {
    /** The last mails of an integration, the newest first. */
    mails: Effect.fnUntraced(function* (name: AgentId) {
      const found = yield* commits.transact(readMails(name))
      if (found === undefined) return yield* noSuchIntegration()
      const oldest = Instant.minus(yield* Instant.now, KEPT_FOR)
      const items = newestFirst(found)
        .slice(0, MOST_KEPT_MAILS)
        .filter(({ received_at }) => received_at > oldest)
        .map(toKeptMail)
      const answer: KeptMails = { items }
      return answer
    }),
    /** Decides about a mail as if it came now. Stores nothing. */
    tryMail: Effect.fn("Integrations.tryMail")(function* (name: AgentId, request: TryMailRequest) {
      const integration = yield* commits.transact(readRow("integration", name))
      if (integration === undefined) return yield* noSuchIntegration()
      if (integration.kind !== "mail")
        return yield* new StateConflict({ message: "this integration takes no mails: its kind is not mail" })
      const options: IntegrationOptions = request.options ?? integration.options
      const problem = optionProblem("mail", options, rules.staleAfter)
      if (problem !== undefined) return yield* problem
      const { check, mail } = yield* mailOf(name, request)
      return yield* tried({ name, options }, { mail, check: request.check ?? check })
    }),
  }
})

const KEPT_FOR = Duration.days(7)
