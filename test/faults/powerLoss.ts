import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { replay } from "../../packages/adapter-sqlite/test/log/RecordedDisk.ts"
import { until } from "../processes/until.ts"
import type { Fault, Place, Site } from "./Fault.ts"

const CALLS = "pwrite64,write,fsync,fdatasync,ftruncate"
const STRACE = [
  "strace",
  "-D",
  "-f",
  "-y",
  "-qq",
  "-xx",
  "-s",
  "65536",
  "--seccomp-bpf",
  "-e",
  `trace=${CALLS}`,
]

const missing = (): string | undefined => {
  const [program = "", ...args] = STRACE
  const { error, status } = spawnSync(program, [...args, "-o", "/dev/null", "true"])
  return error === undefined && status === 0 ? undefined : "install strace, and allow it to trace"
}

const traceOf = ({ folder }: Pick<Site, "folder">): string => join(folder, "trace")

const filesOf = ({ folder }: Pick<Site, "folder">): ReadonlyArray<string> =>
  ["", "-wal"].map((suffix) => join(folder, `data/tocsin.db${suffix}`))

const inHex = (bytes: Buffer): string => bytes.toString("hex").replaceAll(/../g, String.raw`\x$&`)

/** The content of a file before its trace began, as calls of a trace. */
const callsOf = (file: string, content: Buffer): string => {
  const descriptor = `3<${inHex(Buffer.from(file))}>`
  const written = `1 pwrite64(${descriptor}, "${inHex(content)}", ${content.length}, 0) = ${content.length}`
  return `${written}\n1 fdatasync(${descriptor}) = 0\n`
}

const END = "end of the trace"
const LAST_CALL = `1 write(1<>, "${inHex(Buffer.from(END))}", ${END.length}) = ${END.length}\n`

/** Waits until the tracer has written all that it saw. */
const wholeTrace = (place: Place) => {
  let size = -1
  let since = performance.now()
  return until(
    "the trace is complete",
    Effect.sync(() => {
      const now = statSync(traceOf(place)).size
      if (now !== size) since = performance.now()
      size = now
      return performance.now() - since > 500 && readFileSync(traceOf(place), "latin1")
    }),
  )
}

/** The loss of the machine's power under a server on SQLite. */
export const powerFaults: ReadonlyArray<Fault> = [
  {
    name: "power loss",
    cause:
      "SIGKILL; of the writes since the last sync of each file, recorded by strace, any share of the sectors survives; a start",
    seen: "Requests under way fail and are repeated.",
    setups: ["sqlite"],
    rounds: 10,
    missing,
    prepare: Effect.sync(() => {
      const before = new Map<string, Buffer>()
      return {
        conditions: (site) => Effect.succeed({ through: ["/usr/bin/env", ...STRACE, "-o", traceOf(site)] }),
        inflict: Effect.fnUntraced(function* (stage) {
          const place = yield* stage.anyPlace
          yield* place.process().kill
          const earlier = Array.from(before, ([file, content]) => callsOf(file, content)).join("")
          const trace = `${earlier}${yield* wholeTrace(place)}${LAST_CALL}`
          const share = stage.random()
          const [remains] = replay(trace, {
            files: filesOf(place),
            syncs: new Set(["fsync", "fdatasync"]),
            isLost: (printed) => printed.endsWith(END),
            survives: () => stage.random() < share,
          })
          if (remains === undefined) return yield* Effect.die(new Error("the trace does not end"))
          for (const [file, content] of remains.files) {
            if (existsSync(file)) writeFileSync(file, content)
            before.set(file, content)
          }
          rmSync(join(place.folder, "data/tocsin.db-shm"), { force: true })
          yield* stage.isOver
          yield* place.start
        }),
      }
    }),
  },
]
