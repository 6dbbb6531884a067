import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { Deferred, Effect } from "effect"
import { AGENT, COMPILE_CACHE, FOR_SECONDS, SERVER } from "../processes/program.ts"
import type { Environment } from "../processes/secrecy.ts"

/**
 * Stand-ins for the installed program, and for `npm start` and `npm run agent` in a clone: all work
 * in the session's folder.
 */
const PRELUDE = `
exec 2>&1
tocsin() { node ${FOR_SECONDS.join(" ")} "${SERVER}" "$@"; }
npm() {
  if [ "$1 $2 $3 $4" = "run -s agent --" ]; then
    shift 4
    node "${AGENT}" "$@"
    return
  fi
  if [ "$1 $2" != "start --" ]; then echo "npm $*: mark the block as scripts"; return 64; fi
  shift 2
  tocsin "$@"
}
`

/** Ends the output of a block: its exit code follows. */
const END = "\u0001"

const PATIENCE = "5 minutes"

/** Where a session works. */
export interface ShellOptions {
  readonly cwd: string
  readonly environment: Environment
}

/** The exit code and the output of a block. */
export interface ShellOutcome {
  readonly code: number
  readonly output: string
}

/**
 * A shell that keeps its variables and functions from block to block, as a reader's terminal does.
 * Where a block may not fail, the first command that does ends it.
 */
export const openShell = Effect.fnUntraced(function* ({ cwd, environment }: ShellOptions) {
  let written = ""
  let wait: { readonly from: number; readonly end: Deferred.Deferred<ShellOutcome> } | undefined
  const settle = (code: number, until: number) => {
    const waiting = wait
    if (waiting === undefined) return
    // Before the next block runs, possibly immediately.
    wait = undefined
    Deferred.doneUnsafe(waiting.end, Effect.succeed({ code, output: written.slice(waiting.from, until) }))
  }
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`
      const shell = spawn("sh", [], {
        cwd,
        env: { PATH, HOME: cwd, ...COMPILE_CACHE, ...environment },
        detached: true,
      })
      shell.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        written += chunk
        const end = written.indexOf(END, wait?.from)
        const code = /^(\d+)\n/.exec(written.slice(end + 1))?.[1]
        if (end !== -1 && code !== undefined) settle(Number(code), end)
      })
      shell.on("close", (code) => settle(code ?? 1, written.length))
      // `close` reports its end.
      shell.stdin.on("error", () => {})
      shell.stdin.write(PRELUDE)
      return shell
    }),
    // With all that its commands have left behind; there may be nothing.
    ({ pid }) => Effect.ignore(Effect.try(() => pid !== undefined && process.kill(-pid, "SIGKILL"))),
  )
  let count = 0
  /**
   * Runs a block. `mayFail`: with `false` it ends at its first command that fails, and so does the
   * session.
   */
  const run = (text: string, mayFail: boolean) =>
    Effect.gen(function* () {
      count += 1
      const file = join(cwd, `.block-${count}.sh`)
      writeFileSync(file, text)
      const end = Deferred.makeUnsafe<ShellOutcome>()
      wait = { from: written.length, end }
      const source = mayFail ? `. ${file} </dev/null` : `set -e; . ${file} </dev/null; set +e`
      child.stdin.write(`${source}; printf '${END}%d\\n' $?\n`)
      return yield* Effect.timeout(Deferred.await(end), PATIENCE)
    })
  return { run }
})
