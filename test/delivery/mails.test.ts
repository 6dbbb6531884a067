import { assert, describe, it } from "@effect/vitest"
import { mailsOver } from "@tocsin/adapter-notify/email/email"
import { makeHandOver } from "@tocsin/adapter-notify/email/handOver"
import type { Mail, MailAnswer } from "@tocsin/adapter-notify/email/mailServer"
import { Duration, Effect } from "effect"
import { testIds } from "../../packages/adapter-notify/test/testIds.ts"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const TO = ["a@example.org", "b@example.org", "c@example.org"]

/** A server on virtual time, and a service whose receiver sends mails there. */
const openMails = Effect.fnUntraced(function* (
  server: {
    readonly scansFor?: Duration.Input
    readonly answerTo?: (address: string, place: number) => MailAnswer | undefined
  },
  to: ReadonlyArray<string> = TO,
) {
  const mails: Array<string> = []
  const most = { atOnce: 0 }
  let running = 0
  const transact = Effect.fnUntraced(function* (mail: Mail, recipients: ReadonlyArray<string>) {
    most.atOnce = Math.max(most.atOnce, ++running)
    const rejected = new Map<string, MailAnswer>()
    for (const address of recipients) {
      const answer = server.answerTo?.(address, recipients.indexOf(address))
      if (answer !== undefined) rejected.set(address, answer)
    }
    const accepted = recipients.filter((address) => !rejected.has(address))
    mails.push(...accepted.map((address) => `${address} ${mail.messageId}`))
    yield* Effect.ensuring(
      Effect.sleep(accepted.length > 0 ? (server.scansFor ?? 0) : 0),
      Effect.sync(() => running--),
    )
    return { accepted, rejected }
  })
  const client = {
    offer: { hasUtf8: true, hasLogin: false, hasStartTls: true },
    greet: Effect.void,
    transact,
  }
  const { concurrency, kind, outlastsLease, send } = yield* Effect.provide(
    mailsOver(makeHandOver(client), {
      from: "tocsin@example.org",
      to,
      settings: {
        port: 587,
        isSecure: false,
        needsTls: true,
        hasLogin: false,
        timeout: Duration.seconds(45),
      },
    }),
    testIds,
  )
  const typed = { kind, ...(concurrency && { concurrency }), ...(outlastsLease && { outlastsLease }) }
  const service = yield* openService({
    notifiers: ["messenger"],
    deadAfter: Duration.days(365),
    types: new Map([["messenger", { ...typed, send: ({ notification }) => send(notification) }]]),
  })
  const first = yield* service.open("first")
  yield* enroll(first, AGENT)
  const rows = () => Array.from(service.rows().outbox.values())
  const reports = (count: number) =>
    Effect.andThen(Effect.orDie(report(first, criticalChecks(count))), settled)
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  return { after, first, mails, most, reports, rows, service }
})

describe("mails", () => {
  it.effect("are sent once each to a server that needs longer for one than a lease", () =>
    Effect.gen(function* () {
      const { after, mails, most, reports, rows, service } = yield* openMails({ scansFor: "100 seconds" }, [
        "ops@example.org",
      ])
      yield* service.open("second")
      yield* reports(40)
      yield* after("40 minutes")
      assert.lengthOf(mails, 40)
      assert.lengthOf(new Set(mails), 40)
      assert.isAtMost(most.atOnce, 3)
      for (const { attempts, state } of rows())
        assert.deepStrictEqual({ attempts, state }, { attempts: 1, state: "sent" })
    }),
  )

  it.effect("are repeated by another server when the one that waits for the answer loses the storage", () =>
    Effect.gen(function* () {
      const { after, first, mails, reports, rows, service } = yield* openMails({ scansFor: "5 minutes" }, [
        "ops@example.org",
      ])
      yield* reports(1)
      yield* after("4 minutes")
      assert.lengthOf(mails, 1)
      yield* service.open("second")
      first.faults.isUnreachable = true
      yield* after("90 seconds")
      assert.lengthOf(mails, 2)
      yield* after("10 minutes")
      assert.strictEqual(rows()[0]?.state, "sent")
    }),
  )

  it.effect("reach everyone once, whatever the server defers, and also through a restart", () =>
    Effect.gen(function* () {
      let isGrey = true
      const { after, first, mails, reports, rows, service } = yield* openMails({
        answerTo: (address, place) => {
          if (place > 0) return { command: "RCPT", status: 452, enhanced: "4.5.3" }
          return isGrey && address.startsWith("b")
            ? { command: "RCPT", status: 450, enhanced: "4.7.1" }
            : undefined
        },
      })
      yield* reports(1)
      const [row] = rows()
      assert.strictEqual(row?.state, "retry")
      yield* first.close
      yield* service.open("second")
      isGrey = false
      yield* after("10 minutes")
      assert.deepStrictEqual(mails.map((mail) => mail.split(" ")[0]).toSorted(), TO)
      assert.deepInclude(rows()[0], { state: "sent", recipients: undefined })
    }),
  )

  it.effect("that some have are sent, not failed, once the others were tried for a day", () =>
    Effect.gen(function* () {
      const { after, mails, reports, rows } = yield* openMails({
        answerTo: (address) =>
          address.startsWith("b") ? { command: "RCPT", status: 451, enhanced: undefined } : undefined,
      })
      yield* reports(1)
      yield* after("2 days")
      assert.lengthOf(mails, 2)
      assert.deepInclude(rows()[0], {
        state: "sent",
        last_error: "No mail yet for b@example.org (451). The mail server answered 451.",
      })
    }),
  )
})
