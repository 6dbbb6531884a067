import { assert } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import type { Server, Socket } from "node:net"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { systemClock } from "../../src/clock/Clock.ts"
import { runProbe } from "../../src/checks/startCheck.ts"
import { probeFields } from "../../src/config/configFields.ts"
import { lacking } from "../../../../scripts/programs.mjs"

export type ProbeName = keyof typeof probeFields

/** A probe as a configuration in `folder` has it; throws with the problems of its settings. */
export const configured = (name: ProbeName, settings: object, folder = "/") => {
  const problems: Array<string> = []
  const refuse = (message: string, path: ReadonlyArray<string | number> = []): void => {
    problems.push(`${path.join(".")} ${message}`.trim())
  }
  const config = probeFields[name](settings, { path: [], refuse, folder })
  if (config === undefined || problems.length > 0) throw new Error(problems.join("; "))
  return config
}

/** The result of a probe that runs once. */
export const probed = async (
  name: ProbeName,
  settings: object,
  {
    timeoutMillis = 300_000,
    note,
    clock = systemClock,
  }: { readonly timeoutMillis?: number; readonly note?: string | undefined; readonly clock?: Clock } = {},
) => {
  const { outcome, gone } = runProbe(configured(name, settings), { timeoutMillis, clock, note })
  const { status, output, exitCode, note: next } = await outcome
  assert.isTrue(await gone)
  return { status, output, exitCode, next }
}

const CERTIFIER = "openssl"

/** Why nothing speaks TLS here; `undefined` if it does. */
export const withoutOpenssl = lacking("openssl")

/** The end of the names of the tests that need it. */
export const unlessOpenssl = withoutOpenssl === undefined ? "" : ` (skipped: ${withoutOpenssl})`

/** Runs openssl in a folder. */
export const opensslIn =
  (folder: string) =>
  (args: string): void =>
    void execFileSync(CERTIFIER, args.split(" "), { stdio: "ignore", cwd: folder })

/** Servers of this process, and their connections. */
export class TestServers {
  readonly #servers: Array<Server> = []
  readonly #sockets = new Set<Socket>()

  /** Listens on a port of the system's choice. */
  async listen(server: Server): Promise<number> {
    this.#servers.push(server)
    server.on("connection", (socket) => this.#sockets.add(socket))
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const bound = server.address()
    return typeof bound === "object" ? (bound?.port ?? 0) : 0
  }

  close(): void {
    for (const server of this.#servers) server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
