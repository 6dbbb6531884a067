import { Schema } from "effect"
import { closedStruct, described, named, optional } from "../formats/Fields.ts"
import { CheckId, uuidOf } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { CheckStatus } from "../formats/Status.ts"
import { IntegrationOptions } from "./Integrations.ts"

/** Mails that an integration keeps for its page (docs/rules.md#mail). */
export const MOST_KEPT_MAILS = 20

/** Bytes of a mail that are read (docs/rules.md#mail). */
export const MOST_READ = 1_048_576

/** Names a kept mail. */
export const MailId = uuidOf("MailId", "a kept mail").pipe(Schema.brand("MailId"))
export type MailId = typeof MailId.Type

export const MailOutcome = Schema.Literals(["applied", "ignored", "late", "refused"])
export type MailOutcome = typeof MailOutcome.Type

const by = Schema.String.annotateKey({
  description: "What said so first: rule N, the name of a known sender, address or subject.",
})
const reason = optional(Schema.String, "Why it has no result; also what could not be read of it.")

export const KeptMail = Schema.Struct({
  id: MailId,
  received_at: InstantFromString,
  from: Schema.String.annotateKey({ description: "The address of its sender." }),
  subject: Schema.String.annotateKey({ description: "Decoded, without Re: and the like." }),
  outcome: MailOutcome,
  by,
  check_id: Schema.optionalKey(CheckId),
  status: Schema.optionalKey(CheckStatus),
  reason,
}).annotate(named("KeptMail", "A mail that an integration got."))
export type KeptMail = typeof KeptMail.Type

export const KeptMails = Schema.Struct({
  items: described(Schema.Array(KeptMail), `The last ${MOST_KEPT_MAILS} of 7 days, the newest first.`),
}).annotate(named("KeptMails", "The last mails of an integration."))
export type KeptMails = typeof KeptMails.Type

/** Characters of base64 that a mail to try may have: those of {@link MOST_READ}, without line breaks. */
export const LONGEST_TRIED = 1_400_000

/** A mail to try: a whole one, or a kept one. */
export const TryMailRequest = closedStruct({
  mail: optional(
    Schema.String.check(Schema.isMaxLength(LONGEST_TRIED, { expected: "base64 of at most 1 MiB" })),
    "A whole mail, as base64. Needs a server with SERVICE_MAIL_PORT.",
  ),
  id: optional(MailId, "A kept mail, in place of a whole one."),
  check: optional(
    Schema.String.check(Schema.isMaxLength(256, { expected: "a name of at most 256 characters" })),
    "The name of a check in the address; of a kept mail its own unless given.",
  ),
  options: optional(IntegrationOptions, "In place of the stored ones."),
}).annotate(named("TryMailRequest", "A mail to try; nothing is stored."))
export type TryMailRequest = typeof TryMailRequest.Type

export const TriedMail = Schema.Struct({
  outcome: MailOutcome,
  by,
  reason,
  check_id: Schema.optionalKey(CheckId),
  status: Schema.optionalKey(CheckStatus),
  output: optional(Schema.String, "The output that its check would have."),
  labels: optional(Schema.Record(Schema.String, Schema.String), "The labels that its check would have."),
}).annotate(named("TriedMail", "What would become of a mail."))
export type TriedMail = typeof TriedMail.Type
