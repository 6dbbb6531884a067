import { type Agent, type OutgoingHttpHeaders, request } from "node:http"
import { Effect, Result } from "effect"
import { type Answer, isEndless } from "../http/client/Answer.ts"

/** A request as it goes over the wire. */
export interface Sent {
  readonly method: string
  /** Already escaped where that is wanted. */
  readonly target: string
  readonly headers: OutgoingHttpHeaders
  readonly body?: string | Uint8Array | undefined
}

/** Sends a request to a port of this machine. */
export const send = (
  { method, target, headers, body }: Sent,
  { port, agent }: { port: number; agent: Agent },
) =>
  Effect.callback<Answer>((resume) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
    const outgoing = request(
      { host: "127.0.0.1", port, agent, method, path: target, headers: { ...length, ...headers } },
      (incoming) => {
        const parts: Array<Buffer> = []
        incoming.on("data", (part: Buffer) => {
          parts.push(part)
          if (isEndless(incoming)) incoming.destroy()
        })
        incoming.on("close", () => {
          const text = Buffer.concat(parts).toString()
          const parsed = Result.try((): unknown => JSON.parse(text))
          const { statusCode: status = 0, headers: received, rawHeaders } = incoming
          const made = { status, headers: received, rawHeaders, text, body: Result.getOrUndefined(parsed) }
          resume(Effect.succeed(made))
        })
      },
    )
    // After an answer that closes the connection the rest of a body has nowhere to go: the first
    // outcome counts.
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end(body)
  })
