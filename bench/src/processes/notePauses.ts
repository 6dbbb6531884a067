import { appendFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import process from "node:process"

// Loaded into a server that is measured. At each SIGUSR2 it adds the longest pause since the last one, in milliseconds.
const delays = monitorEventLoopDelay({ resolution: 1 })
delays.enable()
process.on("SIGUSR2", () => {
  appendFileSync(process.env["BENCH_PAUSES"] ?? "pauses", `${delays.max / 1e6}\n`)
  delays.reset()
})
