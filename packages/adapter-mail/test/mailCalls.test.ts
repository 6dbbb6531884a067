import { assert, describe, it } from "@effect/vitest"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { MailReader } from "@tocsin/core/features/integrations/mail/Mail"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { SMTPServerSession } from "smtp-server"
import { makeCalls } from "../src/mailCalls.ts"

const SENDERS = 20

const sender = { key_hash: "key" }

/** A storage that takes mails and never answers. */
const hanging = Layer.mergeAll(
  // The calls use no more of it.
  Layer.succeed(Integrations, {
    mailbox: () => Effect.succeed(sender),
    takeMail: () => Effect.never,
  } as unknown as Integrations["Service"]),
  Layer.succeed(MailReader, (_, from) =>
    Effect.succeed({ sender: from, fields: [], text: "", sent_at: undefined, isReport: false }),
  ),
)

const newSession = (n: number): SMTPServerSession =>
  // The calls use no more of it.
  ({
    remoteAddress: `10.0.0.${n}`,
    envelope: { mailFrom: false, rcptTo: [] },
  }) as unknown as SMTPServerSession

describe("a storage that hangs", () => {
  it.effect("has every sender repeat its mail within half a minute, however many there are", () =>
    Effect.gen(function* () {
      const { recipient, take } = yield* makeCalls
      const sessions = Array.from({ length: SENDERS }, (_, n) => newSession(n))
      for (const session of sessions) {
        yield* recipient("in_a@x", session)
        yield* recipient("in_b+backup@x", session)
      }
      const taken = yield* Effect.forkChild(
        Effect.forEach(sessions, (session) => take(new Uint8Array(), session), { concurrency: "unbounded" }),
      )
      yield* TestClock.adjust("30 seconds")
      for (const answers of yield* Fiber.join(taken))
        assert.deepStrictEqual(
          answers.map(({ code }) => code),
          [451, 451],
        )
    }).pipe(Effect.provide(hanging)),
  )
})
