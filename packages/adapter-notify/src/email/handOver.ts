import { needsUtf8Mail } from "@tocsin/contract/formats/needsUtf8Mail"
import type { SettledRecipient } from "@tocsin/core/heart/model/OutboxRecord"
import { Effect, Result, Semaphore } from "effect"
import {
  type Mail,
  type MailAnswer,
  type MailClient,
  type MailFault,
  MOST_CONNECTIONS,
  type Offer,
} from "./mailServer.ts"

/** The state of one recipient: it has the mail, was answered otherwise, or was not asked. */
export type Standing = MailAnswer | "has it" | undefined

/** How an attempt ended. */
export interface Handed {
  /** Of every recipient that no earlier attempt settled. */
  readonly standings: ReadonlyMap<string, Standing>
  /** The answer, or its lack, that ended a transaction. */
  readonly fault: MailFault | undefined
  readonly offer: Offer
}

/** Hands a mail over to the recipients that earlier attempts did not settle. Never fails. */
export type HandOver = (mail: Mail, settled: ReadonlyArray<SettledRecipient>) => Effect.Effect<Handed>

/**
 * The recipients of one transaction each. A server that takes SMTPUTF8 may hand over to one that does not, which refuses
 * the whole: who does not need it gets a mail of ASCII, whose headers leave the others out.
 */
const groupsOf = (mail: Mail, settled: ReadonlyArray<SettledRecipient>) => {
  const former = new Set(settled.map(({ address }) => address))
  const all = Array.from(new Set([...mail.to, ...mail.cc])).filter((address) => !former.has(address))
  if (needsUtf8Mail(mail.from.address)) return [{ mail, to: all, needsUtf8: true }]
  const isPlain = (address: string) => !needsUtf8Mail(address)
  const plain = { ...mail, to: mail.to.filter(isPlain), cc: mail.cc.filter(isPlain) }
  return [
    { mail: plain, to: all.filter(isPlain), needsUtf8: false },
    { mail, to: all.filter(needsUtf8Mail), needsUtf8: true },
  ].filter(({ to }) => to.length > 0)
}

/** Of servers that take so many recipients a transaction, some by the code of RFC 821 (RFC 5321 §4.5.3.1.10). */
export const isTooMany = (answer: Standing): boolean =>
  typeof answer === "object" &&
  answer.command === "RCPT" &&
  (answer.status === 452 || (answer.enhanced?.endsWith(".5.3") ?? answer.status === 552))

/** Stands for a recipient that no command of the server can name. */
export const UNADDRESSABLE: MailAnswer = { command: "RCPT", status: 553, enhanced: "5.6.7" }

/** Whether the connection, not the mail, was refused: no other transaction is tried. */
const endsAll = ({ answer }: MailFault): boolean =>
  answer === undefined || answer.status === 421 || !/^(?:MAIL|RCPT|DATA)$/.test(answer.command)

/** Whether a 421 ended the connection at a recipient: behind the greeting, and not as the answer to another command. */
const endsAtRecipient = ({ answer, code }: MailFault): boolean =>
  answer?.status === 421 && answer.command === "CONN" && code === "ECONNECTION"

/** Where a transaction was for one recipient: its end says nothing of others. */
const standingAlone = (
  made: Result.Result<{ readonly rejected: ReadonlyMap<string, MailAnswer> }, MailFault>,
  address: string,
): Standing => {
  if (Result.isSuccess(made)) return made.success.rejected.get(address) ?? "has it"
  return endsAll(made.failure) ? undefined : made.failure.answer
}

/** Hands mails over by transactions; the answer for each recipient counts. */
export const makeHandOver = (client: MailClient): HandOver => {
  // A mail has a connection before its time begins.
  const connections = Semaphore.makeUnsafe(MOST_CONNECTIONS)
  /** Hands over to so many at a time as the server takes. */
  const toGroup = Effect.fnUntraced(function* (
    { mail, needsUtf8, to }: ReturnType<typeof groupsOf>[number],
    standings: Map<string, Standing>,
  ) {
    if (needsUtf8) yield* client.greet
    const isLacking = needsUtf8 && client.offer.hasUtf8 !== true
    if (isLacking) for (const address of to) standings.set(address, UNADDRESSABLE)
    let next: ReadonlyArray<string> = isLacking ? [] : to
    while (next.length > 0) {
      const made = yield* Effect.result(client.transact(mail, next))
      if (Result.isFailure(made)) {
        const [first = "", ...others] = next
        if (endsAtRecipient(made.failure) && others.length > 0) {
          // Some servers end the connection at a second recipient: each attempt reaches one of them.
          const alone = yield* Effect.result(client.transact(mail, [first]))
          standings.set(first, standingAlone(alone, first))
        }
        return yield* Effect.fail(made.failure)
      }
      const { accepted, rejected } = made.success
      for (const address of next) standings.set(address, rejected.get(address) ?? "has it")
      next = accepted.length === 0 ? [] : next.filter((address) => isTooMany(rejected.get(address)))
    }
  })
  const handOver = Effect.fnUntraced(function* (mail: Mail, settled: ReadonlyArray<SettledRecipient>) {
    const standings = new Map<string, Standing>()
    let fault: MailFault | undefined
    for (const group of groupsOf(mail, settled)) {
      for (const address of group.to) standings.set(address, undefined)
      if (fault !== undefined && endsAll(fault)) continue
      const made = yield* Effect.result(toGroup(group, standings))
      if (Result.isSuccess(made)) continue
      fault = made.failure
      const standing = endsAll(fault) ? undefined : fault.answer
      for (const address of group.to)
        if (standings.get(address) === undefined) standings.set(address, standing)
    }
    return { standings, fault, offer: client.offer }
  })
  return (mail, settled) => connections.withPermit(handOver(mail, settled))
}
