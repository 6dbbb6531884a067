import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { tocsin as commandTree } from "@tocsin/server/tocsin"
import { Effect } from "effect"
import type { Command } from "effect/cli"
import { scratchFolder } from "../processes/scratch.ts"
import { tocsin } from "./tocsin.ts"

/** The arguments of each command in a line of a shell, without files of the shell and other programs. */
const commandsIn = (line: string): ReadonlyArray<ReadonlyArray<string>> =>
  line.split(" | ").flatMap((part) => {
    const words = part.replace("npm start --", "tocsin").replace(/ [<>] \S+$/u, "")
    const [first, ...args] = words.match(/"[^"]*"|'[^']*'|\S+/gu) ?? []
    return first === "tocsin" ? [args.map((word) => word.replaceAll(/^["']|["']$/gu, ""))] : []
  })

/** All examples in the help of a command and of those below it. */
const examplesOf = ({ examples, subcommands }: Command.Command.Any): ReadonlyArray<string> => [
  ...examples.map(({ command }) => command),
  ...subcommands.flatMap(({ commands }) => commands.flatMap(examplesOf)),
]

/** Files that they name. A file of stories is called as the shell's pattern. */
const FILES = {
  "policy.yaml": "receivers:\n  phone: {kind: debug}\nroutes:\n  - {to: [phone]}\n",
  "history.jsonl": "",
  "stories/*.jsonl": "",
  "alertmanager.yml": "route: {receiver: a}\nreceivers: [{name: a}]\n",
  "data/kuma.db": "",
}

/** Refusals where an example takes from elsewhere: standard input, a variable, a module, and a policy. */
const MISSES =
  /there is no terminal|standard input must be|the policy is empty|text must be a text of|names a variable that is not set|no module of SERVICE_EXTENSIONS|must be a page of the policy/u

describe("examples of the help", () => {
  it.live("are taken as their commands read arguments", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      for (const [file, text] of Object.entries(FILES)) {
        mkdirSync(dirname(join(cwd, file)), { recursive: true })
        writeFileSync(join(cwd, file), text)
      }
      const place = { cwd, environment: { NEW_DATABASE_URL: "sqlite:./data/new.db" } }
      yield* tocsin(place, "migrate")
      const tree = yield* Effect.promise(() => commandTree(() => true, {}))
      // Without arguments, it would be a server.
      const commands = examplesOf(tree)
        .flatMap(commandsIn)
        .filter(({ length }) => length > 0)
      assert.isAbove(commands.length, 50)
      const refused = yield* Effect.forEach(commands, (args) =>
        Effect.map(tocsin(place, ...args), ({ code, stderr }) =>
          code === EXIT_CODES.usage.code && !MISSES.test(stderr) ? `${args.join(" ")}: ${stderr}` : undefined,
        ),
      )
      assert.deepStrictEqual(
        refused.filter((one) => one !== undefined),
        [],
      )
    }),
  )
})
