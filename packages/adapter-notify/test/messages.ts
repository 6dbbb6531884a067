import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Queue, Record, Redacted } from "effect"
import { makeReceiver } from "../src/policyReceivers.ts"
import { partsOf, startMailServer } from "./email/MailServer.ts"
import { detailed } from "./notifications.ts"
import { testIds } from "./testIds.ts"

/** A firing with all that a message can have: a runbook, both links and details. */
export const linked = {
  ...detailed,
  runbook: { url: "https://wiki.example.org/disks", note: "Full disks" },
  links: {
    incident: "https://tocsin.example.org/#/incidents/0198a5f0",
    acknowledge: { url: "https://tocsin.example.org/a/0198a5f0", for: Duration.hours(1) },
  },
}

/** Makes the receiver of a policy with these secrets. */
export const receiverOf = (definition: Receiver, secrets: Readonly<Record<string, string>>) =>
  makeReceiver(
    definition,
    Record.map(secrets, (secret) => Redacted.make(secret)),
    { timeout: Duration.seconds(15), denyPrivateTargets: false },
  ).pipe(Effect.provide(testIds))

/** The HTML parts of the mails that a receiver sends, as a mail server has them. */
export const htmlOfMails = (...sent: ReadonlyArray<(notifier: Notifier) => Effect.Effect<unknown>>) =>
  Effect.gen(function* () {
    const { mails, port } = yield* startMailServer()
    const addresses = { from: "tocsin@example.org", to: ["ops@example.org"], tls: "off" } as const
    const url = `smtp://127.0.0.1:${port}`
    const notifier = yield* receiverOf({ kind: "messenger", type: "email", ...addresses }, { url })
    const htmlOf = Effect.map(
      Queue.take(mails),
      ({ raw }) => partsOf(raw).find((part) => part.includes("<!doctype")) ?? "",
    )
    return yield* Effect.forEach(sent, (send) => Effect.andThen(send(notifier), htmlOf))
  })
