import { Command } from "effect/cli"
import { commandTable } from "./commandTable.ts"
import { Utc } from "./commands/utc.ts"

type Row = (typeof commandTable)[number]["commands"][number]

/** Stands for a command that is not loaded, in the list of all. */
const unloaded = (name: string, line: string) => Command.make(name).pipe(Command.withShortDescription(line))

/** The command `tocsin`: commands that `isLoaded` excepts have their line alone. */
export const tocsin = async (
  isLoaded: (name: string) => boolean,
  lines: Readonly<Record<string, string>>,
) => {
  const commandOf = async ({ load, name }: Row) =>
    isLoaded(name) ? load() : unloaded(name, lines[name] ?? "")
  const groups = commandTable.map(async ({ commands, group }) => ({
    group,
    commands: await Promise.all(commands.map(commandOf)),
  }))
  return Command.make("tocsin").pipe(
    Command.withDescription(
      "Receives heartbeats and check results, opens incidents and sends notifications.\n" +
        "  Commands open the storage that the settings name, whether a server runs on it or not.",
    ),
    Command.withExamples([
      { command: "tocsin", description: "Run the server; npm start does the same in a clone" },
      { command: "tocsin agents list --state pending" },
      { command: "npm start -- incidents --state open", description: "The same commands in a clone" },
    ]),
    Command.withSubcommands(await Promise.all(groups)),
    Command.withGlobalFlags([Utc]),
  )
}
