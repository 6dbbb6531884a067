import * as Instant from "@tocsin/contract/formats/Instant"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { integrationsMetrics } from "@tocsin/core/features/integrations/integrationsMetrics"
import { type Bounce, type Mail, MailReader } from "@tocsin/core/features/integrations/mail/Mail"
import { TokenBuckets } from "@tocsin/core/kernel/engine/limits/TokenBuckets"
import { CurrentInstruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Cause, Duration, Effect, type Fiber, Redacted, Semaphore } from "effect"
import type { SMTPServerSession } from "smtp-server"
import * as replies from "./replies.ts"
import type { Reply } from "./replies.ts"

const MOST_RECIPIENTS = 100
/** With so many unknown addresses, a connection ends. */
const MOST_UNKNOWN = 3
/** How long an unknown address waits for its reply once its client has used up its budget. */
const GUESSING_WAITS = Duration.seconds(1)
const ADDRESSES_KEPT = 50_000
/** So many mails share a transaction, which blocks the event loop: the first ones of a server take 5 ms each. */
const STORED_AT_ONCE = 2
/**
 * How long a whole mail waits for its reply: for its turns to be read and stored too, of which others may have many. Devices
 * wait no longer than a minute.
 */
const ANSWERED_WITHIN = Duration.seconds(30)

/** A recipient that the client named, and its integration. */
interface Recipient {
  readonly sender: Effect.Success<ReturnType<Integrations["Service"]["mailbox"]>>
  readonly check: string
}

interface Connected {
  /** The time at which it must end. */
  readonly ending: Fiber.Fiber<void>
  unknown: number
  hasNamedKnown: boolean
  /** Whether a mail is arriving or being stored. */
  isBusy: boolean
}

/** The key and the name of a check in an address, which senders may write in any case. */
const partsOf = (address: string): { readonly key: Redacted.Redacted; readonly check: string } => {
  const local = address.slice(0, address.lastIndexOf("@")).toLowerCase()
  const plus = local.indexOf("+")
  return plus === -1
    ? { key: Redacted.make(local), check: "" }
    : { key: Redacted.make(local.slice(0, plus)), check: local.slice(plus + 1) }
}

const logFailure = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.logWarning("a mail could not be stored; its sender is asked to repeat it", cause)

/** Stores mails, and says how each recipient is answered. */
const storing = Effect.gen(function* () {
  const integrations = yield* Integrations
  const readMail = yield* MailReader
  const few = yield* Semaphore.make(STORED_AT_ONCE)
  const takeFor = (mail: Mail, { check, sender }: Recipient): Effect.Effect<Reply> =>
    few.withPermit(integrations.takeMail(sender, { mail, check })).pipe(
      Effect.as(replies.TAKEN),
      Effect.catchTags({
        NotFound: () => Effect.succeed(replies.UNKNOWN),
        RateLimited: ({ message }) => Effect.succeed<Reply>({ code: 450, text: message }),
        StateConflict: ({ message }) => Effect.succeed<Reply>({ code: 452, text: message }),
      }),
      Effect.catchCause((cause) => Effect.as(logFailure(cause), replies.UNAVAILABLE)),
    )
  /** Why a delivery report is to be repeated, if it is. */
  const noteBounce = (bounce: Bounce): Effect.Effect<Reply | undefined> =>
    integrations.noteBounce(bounce).pipe(
      Effect.as(undefined),
      Effect.catchCause((cause) => Effect.as(logFailure(cause), replies.UNAVAILABLE)),
    )
  /** The replies to a mail, one for each recipient; one that is named twice gets the mail once. */
  return Effect.fnUntraced(function* (
    bytes: Uint8Array,
    sender: string,
    recipients: ReadonlyArray<Recipient>,
  ) {
    if (readMail === undefined) return recipients.map(() => replies.UNAVAILABLE)
    const mail = yield* readMail(bytes, sender)
    const failed = mail.bounce === undefined ? undefined : yield* noteBounce(mail.bounce)
    if (failed !== undefined) return recipients.map(() => failed)
    const known = new Map<string, Reply>()
    const all: Array<Reply> = []
    for (const recipient of recipients) {
      const id = `${recipient.sender.key_hash}+${recipient.check}`
      const reply = known.get(id) ?? (yield* takeFor(mail, recipient))
      known.set(id, reply)
      all.push(reply)
    }
    return all
  })
})

/** The effects of a client's commands. */
export const makeCalls = Effect.gen(function* () {
  const integrations = yield* Integrations
  const store = yield* storing
  const { failedAuthenticationRate } = yield* RuleSettings
  const { mailReplies } = (yield* CurrentInstruments).of(integrationsMetrics)
  const guesses = new TokenBuckets(failedAuthenticationRate, ADDRESSES_KEPT)
  const connected = new WeakMap<SMTPServerSession, Connected>()
  const named = new WeakMap<SMTPServerSession["envelope"], Array<Recipient>>()
  const recipientsOf = ({ envelope }: SMTPServerSession): Array<Recipient> => {
    const known = named.get(envelope) ?? []
    named.set(envelope, known)
    return known
  }
  const refuseUnknown = Effect.fnUntraced(function* (session: SMTPServerSession) {
    const connection = connected.get(session)
    if (connection !== undefined) connection.unknown += 1
    const { allowed } = guesses.take(session.remoteAddress, yield* Instant.now)
    if (!allowed) yield* Effect.sleep(GUESSING_WAITS)
    return (connection?.unknown ?? 0) >= MOST_UNKNOWN ? replies.UNKNOWN_AGAIN : replies.UNKNOWN
  })
  const name = Effect.fnUntraced(function* (address: string, session: SMTPServerSession) {
    const recipients = recipientsOf(session)
    const { check, key } = partsOf(address)
    const sender = yield* integrations.mailbox(key)
    const connection = connected.get(session)
    if (connection !== undefined) connection.hasNamedKnown = true
    if (recipients.length >= MOST_RECIPIENTS) return replies.TOO_MANY_RECIPIENTS
    recipients.push({ sender, check })
    return replies.TAKEN
  })
  return {
    connected,
    recipientsOf,
    count: ({ code }: Reply): void => {
      mailReplies.of(String(code)).value += 1
    },
    recipient: (address: string, session: SMTPServerSession): Effect.Effect<Reply> =>
      name(address, session).pipe(
        Effect.catchTag("NotFound", () => refuseUnknown(session)),
        Effect.catchCause((cause) => Effect.as(logFailure(cause), replies.UNAVAILABLE)),
      ),
    /** The replies to a mail, one for each recipient. */
    take: (bytes: Uint8Array, session: SMTPServerSession) => {
      const { mailFrom } = session.envelope
      const recipients = recipientsOf(session)
      return store(bytes, mailFrom === false ? "" : mailFrom.address, recipients).pipe(
        Effect.timeout(ANSWERED_WITHIN),
        Effect.catchCause((cause) =>
          Effect.as(
            logFailure(cause),
            recipients.map(() => replies.UNAVAILABLE),
          ),
        ),
      )
    },
  }
})

export type Calls = Effect.Success<typeof makeCalls>
