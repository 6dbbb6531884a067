import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import type { MailId } from "@tocsin/contract/integrations/Mails"
import { decideMail, type MailDecision } from "./decideMail.ts"
import { type Mail, withoutKeysInMail } from "./Mail.ts"
import { type SeenMail, seenMail } from "./SeenMail.ts"
import { withoutKeys } from "../../../heart/operators/tokens.ts"

/** A mail to an integration, which its transaction decides by the options at that moment. */
export interface MailInput {
  readonly id: MailId
  readonly seen: SeenMail
  /** The name of a check in its address; empty without one. */
  readonly check: string
  readonly decide: (options: IntegrationOptions) => MailDecision
}

/** A mail that is to be decided, without the keys of integrations. */
export const mailInput = (
  given: { readonly id: MailId; readonly mail: Mail; readonly check: string },
  sha256: (text: string) => string,
): MailInput => {
  const seen = seenMail(withoutKeysInMail(given.mail))
  const check = withoutKeys(given.check.toLowerCase())
  let known: readonly [IntegrationOptions, MailDecision] | undefined
  return {
    id: given.id,
    seen,
    check,
    decide: (options) => {
      if (known?.[0] !== options) known = [options, decideMail(seen, { check, options, sha256 })]
      return known[1]
    },
  }
}
