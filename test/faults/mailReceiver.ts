import type { AddressInfo, Socket } from "node:net"
import { Effect, type Scope } from "effect"
import { SMTPServer } from "smtp-server"
import type { Arrival, Reaction, WebhookReceiver } from "../processes/WebhookReceiver.ts"

const SUBJECT = /^(?:(?<firing>CRITICAL|WARNING|UNKNOWN): (?<key>.+?)|RESOLVED: (?<end>.+?))(?:: .*)?$/

/** A header field of a mail, unfolded. */
const fieldOf = (raw: string, name: string): string =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, "im").exec(raw)?.[1]?.replaceAll(/\r\n[ \t]+/g, " ") ?? ""

/** The part of an address before its domain. */
const localPartOf = (address: string): string => /^<(.+)@example\.org>$/.exec(address)?.[1] ?? address

const severityOf = (word: string | undefined) => {
  const severity = word?.toLowerCase()
  return severity === "warning" || severity === "unknown" ? severity : "critical"
}

/** A mail as the arrival that a webhook with the same contents would be. */
const arrivalOf = (raw: string, earlier: (id: string) => number): Arrival => {
  const id = localPartOf(fieldOf(raw, "Message-ID"))
  const { end, firing, key } = SUBJECT.exec(fieldOf(raw, "Subject"))?.groups ?? {}
  const incident = { id: localPartOf(fieldOf(raw, "References")), incident_key: key ?? end ?? "" }
  return {
    sender: "mails",
    id,
    message: {
      type: firing === undefined ? "incident.resolved" : "incident.firing",
      timestamp: "",
      data: { id, severity: severityOf(firing), summary: fieldOf(raw, "Subject"), incident },
    },
    fault: key === undefined && end === undefined ? "subject" : undefined,
    earlier: earlier(id),
    answered: undefined,
    isOver: false,
  }
}

/**
 * Starts a mail server that reacts to each mail once it is whole, until the scope ends. It has no body to answer
 * with: it accepts where a webhook would send one.
 */
export const startMailReceiver = Effect.fnUntraced(function* (
  reactionTo: () => Reaction,
): Effect.fn.Return<
  Pick<WebhookReceiver, "arrivals" | "close" | "open"> & { readonly url: string },
  never,
  Scope.Scope
> {
  const arrivals: Array<Arrival> = []
  const sockets = new Map<number | undefined, Socket>()
  const react = (arrival: Arrival, socket: Socket | undefined, accept: (refusal?: Error) => void) => {
    const isOver = () => void (arrival.isOver = true)
    socket?.once("close", isOver)
    const reaction = reactionTo()
    if (reaction === "hang") return
    if (reaction === "reset") return void socket?.resetAndDestroy()
    if (reaction === "nonsense") return void socket?.end("\0nonsense\r\n\r\n")
    const { afterMillis = 0, status } = typeof reaction === "string" ? { status: 200 } : reaction
    setTimeout(() => {
      if (socket?.destroyed === true) return
      arrival.answered = status
      socket?.off("close", isOver)
      isOver()
      if (status < 300) accept()
      else accept(Object.assign(new Error("refused for now"), { responseCode: 451 }))
    }, afterMillis)
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 1,
    onData: (stream, { remotePort }, end) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        const arrival = arrivalOf(
          Buffer.concat(chunks).toString("utf8"),
          (id) => arrivals.filter((other) => other.id === id).length,
        )
        arrivals.push(arrival)
        react(arrival, sockets.get(remotePort), end)
      })
    },
  })
  server.on("error", () => {})
  server.server.on("connection", (socket: Socket) => {
    const { remotePort } = socket
    sockets.set(remotePort, socket)
    socket.on("error", () => {}).on("close", () => sockets.delete(remotePort))
  })
  const listen = (port: number) =>
    Effect.callback<number>((resume) => {
      // A server that listens on TCP has such an address.
      server.server.listen(port, "127.0.0.1", () =>
        resume(Effect.succeed((server.server.address() as AddressInfo).port)),
      )
    })
  const close = Effect.callback<void>((resume) => {
    server.server.close(() => resume(Effect.void))
    for (const socket of sockets.values()) socket.destroy()
  })
  const port = yield* Effect.acquireRelease(listen(0), () => close)
  return { arrivals, url: `smtp://127.0.0.1:${port}`, close, open: Effect.asVoid(listen(port)) }
})
