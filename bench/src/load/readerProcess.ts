/** Asks for lists at fixed times, however long the answers take. */
import { Agent, get, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { answerCommands } from "../processes/answerCommands.ts"
import type { ReaderCommand, ReaderReply } from "./Reader.ts"

type Start = Extract<ReaderCommand, { readonly type: "start" }>

const agent = new Agent({ keepAlive: true })
const underWay = new Set<Promise<void>>()
let times: ReadonlyArray<Array<number>> = []
let timers: ReadonlyArray<NodeJS.Timeout> = []
let firstFailure: string | undefined

const isJson = ({ headers }: IncomingMessage): boolean => headers["content-type"]?.includes("json") === true

const read = ({ port, token }: Start, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const request = get({ agent, host: "127.0.0.1", port, path, headers }, (response) => {
      text(response).then((body) => {
        const isWhole = !isJson(response) || (body.startsWith("{") && body.endsWith("}"))
        if (response.statusCode === 200 && isWhole) resolve(body)
        else reject(new Error(`${path} was answered with ${response.statusCode} ${body.slice(0, 300)}`))
      }, reject)
    })
    request.on("error", reject)
  })

const start = (command: Start): ReadonlyArray<NodeJS.Timeout> => {
  const { everyMillis, paths } = command
  const begin = performance.now()
  return paths.map((path, index) => {
    // Spread over the period, so that none waits for another.
    const first = begin + (everyMillis * index) / paths.length
    let turn = 0
    const look = () => {
      for (; first + turn * everyMillis <= performance.now(); turn += 1) {
        const due = first + turn * everyMillis
        const one = read(command, path)
          .then(() => void times[index]?.push(performance.now() - due))
          .catch((cause: unknown) => void (firstFailure ??= String(cause)))
          .finally(() => underWay.delete(one))
        underWay.add(one)
      }
    }
    return setInterval(look, 1)
  })
}

answerCommands<ReaderCommand, ReaderReply>(async (command) => {
  for (const timer of timers) clearInterval(timer)
  if (command.type === "start") {
    times = command.paths.map(() => [])
    timers = start(command)
  } else await Promise.all(underWay)
  return { millis: times, ...(firstFailure !== undefined && { firstFailure }) }
})
