import { Worker } from "node:worker_threads"
import { mailReader, THREAD_MEGABYTES } from "@tocsin/adapter-mail/mailReader"
import { listen } from "@tocsin/adapter-mail/MailServer"
import { MailReader } from "@tocsin/core/features/integrations/mail/Mail"
import { Effect, Layer } from "effect"
import { mailDomainOf } from "./part.ts"
import type { Settings } from "../../settings/Settings.ts"
import { type Order, ProgramModule } from "../../threads/askThread.ts"

/** Reads mails in a thread of this program. */
export const reading = Layer.effect(
  MailReader,
  Effect.gen(function* () {
    const program = yield* ProgramModule
    const order: Order = { work: "mail" }
    const resourceLimits = { maxOldGenerationSizeMb: THREAD_MEGABYTES }
    return yield* mailReader(() => new Worker(new URL(program), { workerData: order, resourceLimits }))
  }),
)

/** Listens for mails to integrations (docs/rules.md#mail). */
export const listening = (settings: Settings, given: number) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const {
        SERVICE_MAIL_HOST: host,
        SERVICE_MAIL_PROTOCOL: protocol,
        SERVICE_MAIL_TLS_CERT: cert,
        SERVICE_MAIL_TLS_KEY: key,
      } = settings
      const tls = cert === undefined || key === undefined ? undefined : { cert, key }
      const { port } = yield* listen({ host, port: given, name: mailDomainOf(settings), protocol, tls })
      yield* Effect.logInfo(`Tocsin takes mails on ${protocol}://${host}:${port}`)
    }),
  )
