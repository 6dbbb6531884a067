import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Deferred, Effect, type Scope } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"

/** Why no Prometheus runs here; `undefined` if it does. */
export const withoutPrometheus = lacking("prometheus")

/** A rule of Prometheus: its expression, and the labels of its alert. */
export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Where a Prometheus sends alerts. */
export interface Target {
  readonly port: number
  readonly pathPrefix: string
  readonly key?: string
}

/** A process that is killed with its scope. */
export const startProgram = Effect.fnUntraced(function* (
  program: string,
  args: ReadonlyArray<string>,
): Effect.fn.Return<
  { readonly kill: Effect.Effect<void>; readonly hangUp: Effect.Effect<void> },
  never,
  Scope.Scope
> {
  const ended = Deferred.makeUnsafe<void>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = spawn(program, args, { stdio: "ignore" })
      started.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
      return started
    }),
    (started) =>
      Effect.andThen(
        Effect.sync(() => started.kill("SIGKILL")),
        Deferred.await(ended),
      ),
  )
  return {
    kill: Effect.andThen(
      Effect.sync(() => child.kill("SIGKILL")),
      Deferred.await(ended),
    ),
    hangUp: Effect.sync(() => void child.kill("SIGHUP")),
  }
})

/** A real Prometheus that evaluates rules once a second, sends alerts as often, and reads its own metrics. */
export const startPrometheus = Effect.fnUntraced(function* (
  { key, pathPrefix, port }: Target,
  rules: ReadonlyArray<Rule>,
) {
  const folder = yield* scratchFolder
  const own = yield* Effect.promise(freePort)
  const write = (name: string, content: unknown) =>
    // JSON is YAML.
    writeFileSync(join(folder, name), JSON.stringify(content))
  const writeRules = (given: ReadonlyArray<Rule>) =>
    write("rules.yml", { groups: [{ name: "test", rules: given }] })
  writeRules(rules)
  write("prometheus.yml", {
    global: { evaluation_interval: "1s", scrape_interval: "1s" },
    scrape_configs: [{ job_name: "itself", static_configs: [{ targets: [`127.0.0.1:${own}`] }] }],
    rule_files: [join(folder, "rules.yml")],
    alerting: {
      alertmanagers: [
        {
          path_prefix: pathPrefix,
          ...(key !== undefined && { authorization: { credentials: key } }),
          static_configs: [{ targets: [`127.0.0.1:${port}`] }],
        },
      ],
    },
  })
  const program = yield* startProgram(programPath("prometheus") ?? "prometheus", [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${own}`,
    "--rules.alert.resend-delay=1s",
  ])
  return {
    kill: program.kill,
    /** Replaces the rules while it runs. */
    follow: (given: ReadonlyArray<Rule>) =>
      Effect.andThen(
        Effect.sync(() => writeRules(given)),
        program.hangUp,
      ),
  }
})
