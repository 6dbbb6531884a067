import { appendFileSync } from "node:fs"
import process from "node:process"

// Loaded into a server that is measured. At each SIGUSR2 it adds the longest pauses since the last one, in milliseconds:
// by the clock, and by the processor time of the thread between two looks, which other processes hardly disturb.
const EVERY_MILLIS = 1

let [clock, processor] = [0, 0]
let at = performance.now()
let used = process.threadCpuUsage()
const lookAgain = () => {
  at = performance.now()
  used = process.threadCpuUsage()
}
setInterval(() => {
  const { system, user } = process.threadCpuUsage(used)
  clock = Math.max(clock, performance.now() - at - EVERY_MILLIS)
  processor = Math.max(processor, (system + user) / 1e3)
  lookAgain()
}, EVERY_MILLIS).unref()
process.on("SIGUSR2", () => {
  appendFileSync(process.env["BENCH_PAUSES"] ?? "pauses", `${clock} ${processor}\n`)
  clock = 0
  processor = 0
  lookAgain()
})
