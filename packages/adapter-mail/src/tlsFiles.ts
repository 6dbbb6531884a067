import { statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createSecureContext } from "node:tls"
import { Duration, Effect, Schedule, Schema } from "effect"
import type { SMTPServer } from "smtp-server"

const LOOKS_AT_FILES = Schedule.spaced(Duration.seconds(30))

/** PEM files of a certificate and its key. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** The listener for mails cannot start. */
export class MailServerError extends Schema.TaggedError<MailServerError>()("MailServerError", {
  message: Schema.String,
}) {}

const fileTimes = ({ cert, key }: TlsFiles): string =>
  [cert, key].map((file) => String(statSync(file).mtimeMs)).join()

/** Reads a certificate and its key. */
export const readPem = ({ cert, key }: TlsFiles) =>
  Effect.tryPromise({
    try: async () => {
      const pem = { cert: await readFile(cert), key: await readFile(key), times: fileTimes({ cert, key }) }
      // Bad ones throw here, and not at the first client.
      createSecureContext({ cert: pem.cert, key: pem.key })
      return pem
    },
    catch: (cause) =>
      new MailServerError({
        message: `SERVICE_MAIL_TLS_CERT and SERVICE_MAIL_TLS_KEY must name readable PEM files that belong together (${cause instanceof Error ? cause.message : "unreadable"})`,
      }),
  })

/** Offers a certificate whose files have changed. */
export const followFiles = (server: SMTPServer, tls: TlsFiles, first: string) => {
  let times = first
  const follow = Effect.gen(function* () {
    if (fileTimes(tls) === times) return
    const next = yield* readPem(tls)
    times = next.times
    server.updateSecureContext({ cert: next.cert, key: next.key })
  })
  const warned = Effect.catchCause(follow, (cause) =>
    Effect.logWarning("the listener for mails keeps its former certificate", cause),
  )
  return Effect.repeat(warned, LOOKS_AT_FILES)
}
