import { connect } from "node:net"
import { join } from "node:path"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { MailsCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { enrol } from "../load/enrol.ts"
import { cpuSeconds } from "../processes/cpuSeconds.ts"
import { freePort } from "../processes/freePort.ts"
import { peakResidentMiB } from "../processes/residentMemory.ts"
import type { CaseResult } from "../report/Results.ts"
import { failureOf, newKeys, sampleOf, startServer, target } from "./target.ts"
import { NOTES_PAUSES, pauseOf, usedMiBOf } from "./pauses.ts"

const LINES = 25
const REPLY = /^(?:\d{3}-.*\r\n)*(\d{3}) .*\r\n/

/** A mail about a failed command, as cron sends it. */
const mailOf = (n: string): string =>
  [
    `From: root@vm (Cron Daemon)`,
    `Subject: Cron <root@vm> job ${n} (failed)`,
    `Date: ${new Date().toUTCString()}`,
    "Content-Type: text/plain; charset=UTF-8",
    "",
    ...Array.from({ length: LINES }, (_, line) => `job ${n}, line ${line}: ${"x".repeat(50)}`),
    ".\r\n",
  ].join("\r\n")

/** Sends mails over a connection, one after another, and resolves to how many were accepted. */
const sendMails = (port: number, to: string, mails: ReadonlyArray<string>) =>
  Effect.callback<number>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const lines = mails.flatMap((mail) => [
      "MAIL FROM:<root@vm>\r\n",
      `RCPT TO:<${to}>\r\n`,
      "DATA\r\n",
      mail,
    ])
    const waiting = ["EHLO vm\r\n", ...lines, "QUIT\r\n"].values()
    let received = ""
    let accepted = 0
    let isData = false
    socket.on("data", (chunk) => {
      received += String(chunk)
      const reply = REPLY.exec(received)
      if (reply === null) return
      received = received.slice(reply[0].length)
      if (isData && reply[1] === "250") accepted += 1
      const { value: line } = waiting.next()
      isData = line?.endsWith("\r\n.\r\n") === true
      if (line !== undefined) socket.write(line)
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(accepted)))
  })

const HEARTBEATS = { load: ["heartbeat"], connections: 8, requestsPerSecond: 100 } as const

/** Measures mails over many connections at once, beside heartbeats. */
export const measureMails = Effect.fnUntraced(function* (bench: Bench, one: MailsCase) {
  const file = join(yield* bench.folder, "pauses")
  const mailPort = yield* Effect.promise(freePort)
  const { postgres, server } = yield* startServer(bench, one.storage, {
    NODE_OPTIONS: NOTES_PAUSES,
    BENCH_PAUSES: file,
    SERVICE_MAIL_PORT: String(mailPort),
    SERVICE_INTEGRATION_RATE: "0",
    SERVICE_INTEGRATION_CHECK_RATE: "0",
  })
  const { pid, port, token } = server
  const keys = newKeys(bench.measures.agents)
  yield* enrol(server, keys)
  const addresses: Array<string> = []
  for (let n = 0; n < one.connections; n++) {
    const body = JSON.stringify({ name: `box-${n}`, kind: "mail" })
    const { urls } = JSON.parse(
      yield* callApi({ method: "POST", port, token, path: "/ops/v1/integrations", body }),
    ) as { readonly urls: ReadonlyArray<string> }
    addresses.push(urls[0] ?? "")
  }
  const agents = yield* target([port], keys, {
    server: pid,
    ...(postgres !== undefined && { postgres: postgres.pid }),
  })
  const seconds = bench.measures.seconds
  let asked = 0
  const pause = Effect.suspend(() => pauseOf(server, { file, count: ++asked }))
  const used = Effect.suspend(() => usedMiBOf(server, { file, count: ++asked }))
  const each = one.mails / one.connections
  /** All mails at once, while heartbeats go on. */
  const storm = Effect.fnUntraced(function* (name: string) {
    yield* pause
    const before = cpuSeconds(pid) ?? 0
    const start = performance.now()
    const sent = Effect.map(
      Effect.forEach(
        addresses,
        (to, n) =>
          sendMails(
            mailPort,
            to,
            Array.from({ length: each }, (_, m) => mailOf(`${name}-${n}-${m}`)),
          ),
        { concurrency: "unbounded" },
      ),
      (accepted) => ({
        accepted: accepted.reduce((sum, count) => sum + count, 0),
        millis: performance.now() - start,
        cpuMillis: ((cpuSeconds(pid) ?? 0) - before) * 1e3,
      }),
    )
    const beside = agents.run({ ...HEARTBEATS, warmUpSeconds: 0, seconds })
    const [mails, heartbeats] = yield* Effect.all([sent, beside], { concurrency: "unbounded" })
    return { ...mails, heartbeats, pause: yield* pause }
  })
  const first = yield* storm("first")
  const peak = peakResidentMiB(pid) ?? 0
  const alone = yield* agents.run({ ...HEARTBEATS, warmUpSeconds: 1, seconds })
  const found = yield* Effect.forEach(
    Array.from({ length: bench.measures.repeats }, (_, n) => `run-${n}`),
    storm,
  )
  const last = peakResidentMiB(pid) ?? 0
  const before = yield* used
  yield* Effect.forEach(found, (_, n) => storm(`again-${n}`))
  const kept = (yield* used) - before
  const longest = (pick: (storm: (typeof found)[number]) => number) =>
    Math.max(...[first, ...found].map(pick))
  const mean = (pick: (storm: (typeof found)[number]) => number) =>
    found.reduce((sum, each_) => sum + pick(each_), 0) / found.length
  const lost = [first, ...found].find(({ accepted }) => accepted !== one.mails)
  const failure =
    lost === undefined
      ? failureOf(["heartbeat"], [alone, ...found.map(({ heartbeats }) => heartbeats)])
      : `${lost.accepted} of ${one.mails} mails were accepted`
  const heartbeatMillis = (alone.cpuSeconds["server"] ?? 0) / alone.operations
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series: [
      { name: "alone", samples: [sampleOf(alone)], peakMiB: {} },
      {
        name: "beside mails",
        samples: found.map(({ heartbeats }) => sampleOf(heartbeats)),
        peakMiB: agents.peakMiB(),
      },
    ],
    figures: [
      {
        name: "ms of processor time a mail",
        value:
          mean(({ cpuMillis, heartbeats }) => cpuMillis - heartbeats.operations * heartbeatMillis * 1e3) /
          one.mails,
      },
      {
        name: "ms of processor time in the longest pause beside mails",
        value: longest((each_) => each_.pause.processor),
        target: { bound: "at most", value: one.mostMillis },
      },
      { name: "ms of the longest pause beside mails", value: longest((each_) => each_.pause.clock) },
      { name: "mails a second", value: mean(({ millis }) => (one.mails * 1e3) / millis) },
      { name: "MiB resident more than after the first mails", value: last - peak },
      {
        name: "MiB in use that as many mails again added",
        value: kept,
        target: { bound: "at most", value: one.mostMoreMiB },
      },
    ],
    ...(failure !== undefined && { failure }),
  }
  return result
})
