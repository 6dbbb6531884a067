import { Effect, Option, type Redacted, Schema } from "effect"
import { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { MailId } from "@tocsin/contract/integrations/Mails"
import { Receivers } from "../../../heart/notifications/Receivers.ts"
import { recordBounce } from "../../../heart/notifications/recordResults.ts"
import { isTokenOf } from "../../../heart/operators/tokens.ts"
import { PolicyInForce } from "../../../heart/policy/PolicyInForce.ts"
import { Commits } from "../../../kernel/engine/commits/Commits.ts"
import { NotFound } from "../../../kernel/engine/OperationErrors.ts"
import { Hashing } from "../../../kernel/ports/Hashing.ts"
import { Ids, newId } from "../../../kernel/ports/Ids.ts"
import { Storage } from "../../../kernel/ports/Storage.ts"
import { isValidKey } from "../IntegrationRecord.ts"
import { integrationOfKey } from "../KnownIntegration.ts"
import type { Bounce, Mail } from "./Mail.ts"
import { type MailInput, mailInput } from "./MailInput.ts"
import type { SenderRequest } from "../Report.ts"
import type { Sender } from "../senderCalls.ts"
import { tryingMails } from "./tryingMails.ts"

const isOutboxId = Schema.is(OutboxId)

const UNKNOWN_ADDRESS = new NotFound({ message: "no integration has this address; create one of kind mail" })

type Reports<E> = (
  kind: "mail",
  sender: Sender,
  given: SenderRequest,
  mail: MailInput,
) => Effect.Effect<unknown, E>

/** Mails of integrations: their addresses, and what becomes of mails (docs/rules.md#mail). */
export const mailing = Effect.fnUntraced(function* <E>(report: Reports<E>) {
  const commits = yield* Commits
  const { identify, sha256 } = yield* Hashing
  const policy = yield* PolicyInForce
  const receivers = Option.getOrUndefined(yield* Effect.serviceOption(Receivers))
  const storage = yield* Storage
  const newMailId = newId<MailId>(yield* Ids)

  return {
    ...(yield* tryingMails),
    /** Finds the open integration of a key in an address; fails as for every unknown address. */
    mailbox: Effect.fnUntraced(function* (key: Redacted.Redacted) {
      if (!isTokenOf("mail", key)) return yield* UNKNOWN_ADDRESS
      const { key_hash } = identify(key)
      const known = yield* commits.transact(integrationOfKey(key_hash))
      if (known?.integration.kind !== "mail" || !isValidKey(known.integration, key_hash, yield* Instant.now))
        return yield* UNKNOWN_ADDRESS
      return { key_hash, known }
    }),
    /** Takes a mail: durable when it succeeds. A mail that comes again is an unchanged result. */
    takeMail: Effect.fnUntraced(function* (
      sender: Sender,
      given: { readonly mail: Mail; readonly check: string },
    ) {
      const input = mailInput({ ...given, id: newMailId(yield* Instant.now) }, sha256)
      yield* report("mail", sender, { method: "", path: [], query: [], body: "" }, input)
    }),
    /** Notes that a mail of ours was not delivered, if it was one of the last days. Other reports change nothing. */
    noteBounce: Effect.fnUntraced(function* ({ message_id, status }: Bounce) {
      const [id = "", domain] = message_id.split(/@(.*)/su)
      if (!isOutboxId(id)) return
      const [row] = yield* storage.rows("outbox", [id])
      const mails = row && receivers?.current().get(row.receiver)?.mails
      if (row === undefined || mails === undefined) return
      if (domain?.toLowerCase() !== mails.domain.toLowerCase()) {
        // Nobody guesses the id. A former policy, or that of another server, may have had another address.
        const isOfThisPolicy = policy.since() <= (row.first_attempted_at ?? row.updated_at)
        if (isOfThisPolicy && (yield* storage.replicas).length <= 1) return
      }
      yield* commits.transact(recordBounce({ notification: row, status, hasOthers: mails.recipients > 1 }))
    }),
  }
})
