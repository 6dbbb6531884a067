import type { Instant } from "@tocsin/contract/formats/Instant"
import { withoutKeys } from "../../../heart/operators/tokens.ts"
import { Context, type Effect } from "effect"

/** A header field: its name in lower case, and its value on one line, decoded. */
export type MailField = readonly [name: string, value: string]

/** That a mail server could not deliver a mail of ours, as its report says. */
export interface Bounce {
  /** The Message-ID of the mail that it returns, without brackets. */
  readonly message_id: string
  /** Its status, such as 5.1.1. */
  readonly status: string
}

/** A mail as it was read. */
export interface Mail {
  /** The address of the envelope; empty for a report of a mail server. */
  readonly sender: string
  /** In their order, the first fields of the mail. */
  readonly fields: ReadonlyArray<MailField>
  /** The text for people, in lines. */
  readonly text: string
  /** Its Date, if that can be read. */
  readonly sent_at: Instant | undefined
  /** Of a delivery report about one mail. */
  readonly bounce?: Bounce | undefined
  /** Whether it is a delivery report. */
  readonly isReport: boolean
  /** Says in a sentence that a part of it could not be read. */
  readonly unread?: string | undefined
}

/** The value of the first field of a name; empty without one. */
export const fieldOf = ({ fields }: Pick<Mail, "fields">, name: string): string =>
  fields.find(([each]) => each === name)?.[1] ?? ""

/** A mail without the keys of integrations, which the fields of mail servers have. */
export const withoutKeysInMail = (mail: Mail): Mail => ({
  ...mail,
  sender: withoutKeys(mail.sender),
  fields: mail.fields.map(([name, value]) => [name, withoutKeys(value)]),
  text: withoutKeys(mail.text),
})

/** Reads a whole mail; never fails: what cannot be read counts as sent. */
export type ReadsMail = (mail: Uint8Array, sender: string) => Effect.Effect<Mail>

/** Reads mails; absent on a server without a listener, which loads nothing for it. */
export const MailReader = Context.Reference<ReadsMail | undefined>(
  "@tocsin/core/features/integrations/mail/MailReader",
  { defaultValue: () => undefined },
)
