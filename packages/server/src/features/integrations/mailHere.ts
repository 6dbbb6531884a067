import { mailAsSent, parseMail } from "@tocsin/adapter-mail/parseMail"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ReadsMail } from "@tocsin/core/features/integrations/mail/Mail"
import { Effect } from "effect"

/** Reads a mail in this process: a command has one, of the person who gave it. */
export const mailHere: ReadsMail = (mail, sender) =>
  Effect.promise(() =>
    parseMail(mail).catch(() =>
      mailAsSent(mail, "the mail could not be read, so it counts by its fields and its text as sent"),
    ),
  ).pipe(
    Effect.map(({ date, ...read }) => ({
      ...read,
      sender,
      sent_at: date === undefined ? undefined : Instant.fromMillis(date),
    })),
  )
