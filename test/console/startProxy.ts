import { request as send } from "node:http"
import { serve } from "./serve.ts"

/** A proxy that strips `/watch` and passes on only whole answers, so that no stream gets through. */
export const startProxy = (upstream: string) =>
  serve((incoming, outgoing) => {
    const headers = { ...incoming.headers, "x-forwarded-prefix": "/watch" }
    const path = (incoming.url ?? "").replace(/^\/watch/, "")
    const upstreamRequest = send(`${upstream}${path}`, { method: incoming.method, headers }, (answer) => {
      const parts: Array<Buffer> = []
      answer.on("data", (part: Buffer) => parts.push(part))
      answer.on("end", () => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(parts))
      })
    })
    upstreamRequest.on("error", () => outgoing.destroy())
    outgoing.on("close", () => upstreamRequest.destroy())
    incoming.pipe(upstreamRequest)
  })
