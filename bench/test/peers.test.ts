import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { processTree } from "../src/processes/cpuSeconds.ts"
import { freePort } from "../src/processes/freePort.ts"
import { procFile } from "../src/processes/procFile.ts"

const PEER = join(import.meta.dirname, "../src/peers/Peer.ts")

/** A server with processes of its own, which take no notice of its end. */
const SERVER = `
  for (let n = 0; n < 3; n += 1) require("node:child_process").spawn("sleep", ["300"])
  require("node:net").createServer().listen(Number(process.argv[1]), "127.0.0.1")`

/** Starts the server as the benchmark does, writes its process id, and goes on or ends. */
const benchmark = (port: number, folder: string, rest: string) => `
  import { Effect } from ${JSON.stringify(import.meta.resolve("effect"))}
  import { startProgram } from ${JSON.stringify(PEER)}
  const args = ["-e", ${JSON.stringify(SERVER)}, "${port}"]
  const at = { folder: ${JSON.stringify(folder)}, port: ${port} }
  await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
    console.log(yield* startProgram(process.execPath, args, at))
    yield* Effect.${rest}
  })))`

/** Whether it runs: in a container, no parent may collect one that has ended. */
const isAlive = (pid: number): boolean => /\) [^Z]/.test(procFile(pid, "stat") ?? "")

describe.skipIf(process.platform !== "linux")("a peer and all its processes", () => {
  it.each<[string, string, NodeJS.Signals | undefined]>([
    ["end with the measurement", 'sleep("1 second")', undefined],
    ["end with a benchmark that is killed", "never", "SIGKILL"],
    ["end with a benchmark that is interrupted", "never", "SIGINT"],
  ])(
    "%s",
    async (_name, rest, signal) => {
      const folder = mkdtempSync(join(tmpdir(), "tocsin-peer-"))
      const program = benchmark(await freePort(), folder, rest)
      const bench = spawn(process.execPath, ["--input-type=module", "-e", program])
      try {
        const ended = once(bench, "exit")
        const [text] = await once(bench.stdout, "data")
        const tree = processTree(Number(text))
        assert.lengthOf(tree, 4)
        if (signal !== undefined) bench.kill(signal)
        await ended
        const until = performance.now() + 10_000
        while (tree.some(isAlive) && performance.now() < until)
          await new Promise((look) => setTimeout(look, 20))
        assert.deepStrictEqual(tree.filter(isAlive), [])
      } finally {
        bench.kill("SIGKILL")
        rmSync(folder, { recursive: true })
      }
    },
    60_000,
  )
})
