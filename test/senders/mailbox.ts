import { Effect } from "effect"
import { incidentsOf, operate, OPERATOR_TOKEN } from "../processes/api.ts"
import type { Environment } from "../processes/secrecy.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"

/** A server, and where it takes mails. */
export interface MailServer extends ServerProcess {
  readonly mailPort: number
}

/** A server that takes mails, on a port that the system chooses unless given. */
export const startMailServer = Effect.fnUntraced(function* (cwd: string, environment: Environment = {}) {
  const server = yield* startServer({
    cwd,
    environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_MAIL_PORT: "0", ...environment },
  })
  const port = Effect.sync(() => /takes mails on [^"\s]+:(\d+)"/.exec(server.output.stderr)?.[1])
  return { ...server, mailPort: Number(yield* until("mails are taken", port)) } satisfies MailServer
})

/** A new integration, and its address. */
export const mailbox = Effect.fnUntraced(function* (server: MailServer, name: string, options: object = {}) {
  const json = { name, kind: "mail", options }
  const { text } = yield* operate(server, "POST", "/ops/v1/integrations", { json })
  // The answer of the API.
  const { urls } = JSON.parse(text) as { readonly urls: readonly [string, string] }
  return urls[0]
})

/** The kept mails of an integration. */
export const keptOf = Effect.fnUntraced(function* (server: MailServer, name: string) {
  const { text } = yield* operate(server, "GET", `/ops/v1/integrations/${name}/mails`)
  return (JSON.parse(text) as { readonly items: ReadonlyArray<Record<string, string>> }).items
})

/** Open incidents of an integration, each as `SEVERITY CHECK`. */
export const openOf = (server: MailServer, name: string) =>
  Effect.map(incidentsOf(server), (all) =>
    all.flatMap(({ incident_key, severity, state }) =>
      state === "open" && incident_key.startsWith(`${name}/`)
        ? [`${severity} ${incident_key.slice(name.length + 1)}`]
        : [],
    ),
  )
