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

const server = createServer((request, response) => {
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
  ({ step }) =>
    new Promise((resolve, reject) => {
      answerToResults = expectedBody(step)
      server.on("error", reject)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resolve(typeof address === "object" && address !== null ? address.port : 0)
      })
    }),
)
