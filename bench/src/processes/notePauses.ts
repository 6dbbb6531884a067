import { appendFileSync } from "node:fs"
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

// Loaded into a server that is measured. At each SIGUSR2 it adds the longest pauses since the last one, in milliseconds:
// by the clock, and by the processor time of the thread between two looks. Other processes disturb the latter less, but
// what arrives while they keep the thread from running is then one turn. At each SIGWINCH it adds the MiB of values in
// use, after it has collected the others.
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
const state = (line: string) => appendFileSync(process.env["BENCH_PAUSES"] ?? "pauses", `${line}\n`)
process.on("SIGUSR2", () => {
  state(`${clock} ${processor}`)
  clock = 0
  processor = 0
  lookAgain()
})
process.on("SIGWINCH", () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
  collect()
  const { external, heapUsed } = process.memoryUsage()
  state(String((external + heapUsed) / 2 ** 20))
})
