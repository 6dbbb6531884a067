// `node test/fuzz/mails.ts [--minutes N] [--seed N] [--count N]`: mutates the mails of test/senders/mails and sends them to
// a server, until the time is over or a fault is found. A fault is printed with its seed, and its mail is kept as a file.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import process from "node:process"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { operate, OPERATOR_TOKEN } from "../processes/api.ts"
import prepare from "../processes/bundledPrograms.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { Draw } from "./Draw.ts"
import { mutatedMail } from "./mutatedMail.ts"

/** Mails between two looks at what became of them: as many are kept. */
const TOGETHER = 20
/** A mail is read for 2 s at most; a busy machine takes as long again, and starts a thread. */
const LONGEST_MILLIS = 30_000
const MOST_MEGABYTES = 640

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    count: { type: "string", default: "1e9" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
})

const FOLDER = new URL("../senders/mails/", import.meta.url)
const corpus = readdirSync(FOLDER)
  .toSorted()
  .map((file) => readFileSync(new URL(file, FOLDER), "latin1"))

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Sends a mail over a connection of its own, and resolves to the replies to its recipient and to its data. */
const send = (port: number, to: string, mail: Buffer): Promise<string> =>
  new Promise((resolve) => {
    const socket: Socket = connect(port, "127.0.0.1")
    const lines = [
      "EHLO vm\r\n",
      "MAIL FROM:<root@vm>\r\n",
      `RCPT TO:<${to}>\r\n`,
      "DATA\r\n",
      mail,
      "QUIT\r\n",
    ]
    let replies = ""
    let waiting = ""
    const timer = setTimeout(() => {
      replies += "no reply "
      socket.destroy()
    }, LONGEST_MILLIS)
    socket.on("data", (chunk) => {
      waiting += String(chunk)
      for (let end = waiting.search(/^\d{3} .*\r\n/m); end >= 0; end = waiting.search(/^\d{3} .*\r\n/m)) {
        replies += `${waiting.slice(end, end + 3)} `
        waiting = waiting.slice(waiting.indexOf("\r\n", end) + 2)
        const line = lines.shift()
        if (line === undefined) socket.end()
        else socket.write(line)
      }
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(replies)
    })
  })

const megabytesOf = ({ pid }: ServerProcess): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024

interface Kept {
  readonly outcome: string
  readonly check_id?: string
  readonly reason?: string
}

/** How often mails could not be read, by the sentence that says so. */
const sentences = new Map<string, number>()

/** Reads what became of mails: each that was accepted has a result, or a sentence. */
const lookAt = Effect.fnUntraced(function* (server: ServerProcess, name: string, accepted: number) {
  const { text } = yield* operate(server, "GET", `/ops/v1/integrations/${name}/mails`)
  const { items } = JSON.parse(text) as { readonly items: ReadonlyArray<Kept> }
  const faults = items.filter(({ check_id, outcome, reason }) =>
    outcome === "applied" ? check_id === undefined : reason === undefined,
  )
  if (items.length !== accepted) return [`${accepted} accepted, ${items.length} kept`]
  for (const { reason } of items)
    if (reason?.startsWith("a mail ") === true) sentences.set(reason, (sentences.get(reason) ?? 0) + 1)
  return faults.map((one) => JSON.stringify(one))
})

const RULES = [
  { match: { body: "*fail*of*:*" }, check: "$1 $2" },
  { match: { header: { "X-Mailer": "*?*" } }, status: "unknown" },
]

const fuzz = Effect.gen(function* () {
  const server = yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      DATABASE_URL: "memory:",
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      SERVICE_MAIL_PORT: "0",
      SERVICE_LOG_LEVEL: "info",
      SERVICE_INTEGRATION_RATE: "0",
      SERVICE_INTEGRATION_CHECK_RATE: "0",
    },
  })
  const found = Effect.sync(() => /takes mails on [^"\s]+:(\d+)"/.exec(server.output.stderr)?.[1])
  const port = Number(yield* until("mails are taken", found))
  const end = performance.now() + Number(values.minutes) * 60_000
  const first = Number(values.seed)
  let slowest = 0
  const slow: Array<string> = []
  let accepted = 0
  for (let seed = first; performance.now() < end && seed - first < Number(values.count); seed += TOGETHER) {
    const name = `box-${seed}`
    const options = seed % 2 === 0 ? {} : { rules: RULES }
    const made = yield* operate(server, "POST", "/ops/v1/integrations", {
      json: { name, kind: "mail", options },
    })
    const [address = ""] = (JSON.parse(made.text) as { readonly urls: ReadonlyArray<string> }).urls
    let taken = 0
    const faults: Array<string> = []
    for (let one = seed; one < seed + TOGETHER; one++) {
      const mail = mutatedMail(corpus, new Draw(one))
      const begun = performance.now()
      const replies = yield* Effect.promise(() => send(port, address, mail))
      const took = performance.now() - begun
      slowest = Math.max(slowest, took)
      const isTaken = replies.startsWith("220 250 250 250 354 250 ")
      if (isTaken) taken += 1
      if (took > 2_500) slow.push(`${one}: ${Math.round(took)} ms`)
      if (isTaken ? took > LONGEST_MILLIS : !/^220 250 250 250 354 (?:250|450|552) /.test(replies)) {
        writeFileSync(`mail-${one}.eml`, mail)
        faults.push(`seed ${one}: ${replies} after ${Math.round(took)} ms`)
      }
    }
    accepted += taken
    faults.push(...(yield* lookAt(server, name, taken)))
    yield* operate(server, "DELETE", `/ops/v1/integrations/${name}`)
    if (megabytesOf(server) > MOST_MEGABYTES) faults.push(`${megabytesOf(server)} MiB`)
    if (/"level":"(?:ERROR|FATAL)"|uncaught/i.test(server.output.stderr))
      faults.push(server.output.stderr.slice(-2_000))
    for (const fault of faults) say(`${name}: ${fault}`)
    if (faults.length > 0) process.exitCode = 1
    if ((seed - first) % 2_000 === 0)
      say(
        `${seed - first} mails, ${accepted} accepted, ${Math.round(slowest)} ms, ${Math.round(megabytesOf(server))} MiB`,
      )
  }
  say(`${accepted} accepted, slowest ${Math.round(slowest)} ms, most ${Math.round(megabytesOf(server))} MiB`)
  for (const [sentence, count] of sentences) say(`${count} times: ${sentence}`)
  say(`above 2.5 s: ${slow.join(", ")}`)
})

await prepare()
await Effect.runPromise(Effect.scoped(fuzz))
