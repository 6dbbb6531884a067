import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AGENT } from "@tocsin/test/processes/program"
import type { WireEvent } from "@tocsin/reporting/agent/CheckReport"
import { SpoolFile } from "../../src/spool/SpoolFile.ts"

const PATIENCE_MILLIS = 150_000

export const until = async (what: string, look: () => boolean): Promise<void> => {
  const end = performance.now() + PATIENCE_MILLIS
  while (!look()) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A host without a running agent, whose commands keep results in a spool. */
export class AgentHost {
  readonly folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  readonly spool = join(this.folder, "state", "spool.db")
  readonly #flags = ["--config", join(this.folder, "config.yaml"), "--state", join(this.folder, "state")]

  call(command: string, args: ReadonlyArray<string>, input = "") {
    const all = [AGENT, command, ...this.#flags, ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8", input })
    return { status, stdout, stderr }
  }

  /** Starts a command in a process group of its own. */
  begin(command: string, args: ReadonlyArray<string>) {
    const child = spawn(process.execPath, [AGENT, command, ...this.#flags, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    const said = { text: "" }
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (said.text += chunk.toString()))
    return { child, said, closed: once(child, "close") }
  }

  /** The results that wait, and the notes. */
  kept() {
    using file = SpoolFile.open(this.spool)
    // Only `tocsin-agent` has written them.
    const events = file.oldest(1_000).map(({ body }) => JSON.parse(body) as WireEvent)
    return { events, last: events.at(-1), notes: file.notes() }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true })
  }
}
