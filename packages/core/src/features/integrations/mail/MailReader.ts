import { Context, type Effect } from "effect"
import type { Mail } from "./Mail.ts"

/** Reads a whole mail; never fails: what cannot be read counts as sent. */
export type ReadsMail = (mail: Uint8Array, sender: string) => Effect.Effect<Mail>

/** Reads mails; absent on a server without a listener, which loads nothing for it. */
export const MailReader = Context.Reference<ReadsMail | undefined>(
  "@tocsin/core/features/integrations/mail/MailReader",
  { defaultValue: () => undefined },
)
