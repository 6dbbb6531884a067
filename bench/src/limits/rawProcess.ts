/**
 * The raw limit: node:http and JSON.parse, and an answer of the size of the service's. No key is
 * looked at, nothing is kept.
 */
import { createServer } from "node:http"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import { expectedBody } from "../load/Expectation.ts"
import { answerCommands } from "../processes/answerCommands.ts"
import type { RawCommand } from "./RawCommand.ts"

let answerToResults = expectedBody("unchanged")
const answerToHeartbeat = expectedBody("heartbeat")

const answerTo = (body: { readonly events?: ReadonlyArray<unknown> }): string => {
  if (body.events === undefined) return answerToHeartbeat
  return body.events.length === EVENTS_PER_BATCH ? answerToResults : "{}"
}

let page: { readonly fields: Readonly<Record<string, string>>; readonly body: Buffer } | undefined

const server = createServer((request, response) => {
  if (request.method === "GET" && page !== undefined) {
    response.writeHead(200, page.fields)
    response.end(page.body)
    return
  }
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const answer = answerTo(
      JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString() ?? ""),
    )
    response.writeHead(202, { "content-type": "application/json", "content-length": answer.length })
    response.end(answer)
  })
})

answerCommands<RawCommand, number>(
  ({ page: given, step }) =>
    new Promise((resolve, reject) => {
      page = given && { ...given, body: Buffer.from(given.body, "base64") }
      answerToResults = expectedBody(step)
      server.on("error", reject)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resolve(typeof address === "object" && address !== null ? address.port : 0)
      })
    }),
)
