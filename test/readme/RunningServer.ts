import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url))
const STARTS_WITHIN_MILLIS = 30_000

/** The server as a process of its own, as `npm start` runs it. */
export interface RunningServer {
  readonly process: ChildProcess
  readonly baseUrl: string
  /** What it has written so far. */
  readonly output: { stdout: string; stderr: string }
  /** Sends SIGTERM and waits. Gives the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts the server in `cwd` on a free port; resolves once it listens. */
export const startServer = async (
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<RunningServer> => {
  const child = spawn(process.execPath, [MAIN], {
    cwd,
    env: { PATH: process.env["PATH"], SERVICE_PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const output = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()))
  const baseUrl = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no start: ${output.stderr}`)), STARTS_WITHIN_MILLIS)
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${output.stderr}`)))
    child.stderr.on("data", (chunk: Buffer) => {
      output.stderr += chunk.toString()
      const address = /Tocsin listens on (http:\/\/[^"\s]+)/.exec(output.stderr)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      resolve(address)
    })
  })
  const stop = async (): Promise<number | null> => {
    if (child.exitCode !== null) return child.exitCode
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
    return child.exitCode
  }
  return { process: child, baseUrl, output, stop }
}
