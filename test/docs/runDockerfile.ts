import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { statusOf } from "../processes/api.ts"
import { until } from "../processes/until.ts"

const INSTRUCTION = /^(FROM|WORKDIR|COPY|RUN|ENV|VOLUME|USER|EXPOSE|CMD|HEALTHCHECK) (.+)$/

interface Image {
  readonly command: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  readonly volume: string
}

const imageOf = (text: string): Image => {
  const lines = text.replaceAll("\\\n", " ").trim().split("\n")
  const instructions = lines.map((line) => {
    const [, name, rest = ""] =
      INSTRUCTION.exec(line) ?? assert.fail(`no instruction of a Dockerfile: ${line}`)
    return { name, rest }
  })
  const all = (wanted: string) => instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest)
  const environment = Object.fromEntries(
    all("ENV").flatMap((rest) =>
      rest
        .trim()
        .split(/\s+/)
        .map((pair) => pair.split("=", 2)),
    ),
  )
  return { command: JSON.parse(all("CMD")[0] ?? "[]"), environment, volume: all("VOLUME")[0] ?? "" }
}

/** Starts what an image would start, with its environment, in a folder instead of its volume; waits until it is ready, and stops it. */
export const runDockerfile = Effect.fnUntraced(function* (text: string) {
  const { command, environment, volume } = imageOf(text)
  const folder = yield* scratchFolder
  const settings = Object.entries(environment).map(([name, value]) => [name, value.replace(volume, folder)])
  assert.notDeepEqual(Object.fromEntries(settings), environment, "nothing in ENV points to the volume")
  const [program = "", ...args] = command
  assert.strictEqual(program, "node")
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      // SERVICE_HOST is left out: a test listens on this machine alone.
      const env = {
        PATH: process.env["PATH"],
        ...Object.fromEntries(settings),
        SERVICE_PORT: "0",
        SERVICE_HOST: "127.0.0.1",
      }
      return spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] })
    }),
    (started) => Effect.sync(() => started.kill("SIGKILL")),
  )
  let log = ""
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()))
  const baseUrl = yield* until(
    "it listens",
    Effect.sync(() => /Tocsin listens on (http:\/\/[^"\s]+)/.exec(log)?.[1]),
  )
  yield* until(
    "it is ready",
    Effect.map(statusOf({ baseUrl }, "/api/v1/ready"), (status) => status === 200),
  )
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  assert.deepStrictEqual(yield* Effect.promise(() => ended), [0, null])
})
