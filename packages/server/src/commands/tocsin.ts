import { Command } from "effect/cli"
import { agents } from "./agents.ts"
import { backup } from "./backup.ts"
import { copy } from "./copy.ts"
import { doctor } from "./doctor.ts"
import { incidents } from "./incidents.ts"
import { migrate } from "./migrate.ts"
import { outbox } from "./outbox.ts"
import { serve } from "./serve.ts"
import { simulate } from "./simulate.ts"
import { summary } from "./summary.ts"

/** `tocsin`: all commands. */
export const tocsin = Command.make("tocsin").pipe(
  Command.withDescription(
    "Heartbeats and check results in, incidents and notifications out.\n" +
      "  Commands work on the storage that the settings name, whether a server runs on it or not.",
  ),
  Command.withExamples([
    { command: "tocsin", description: "Run the server; npm start does the same in a clone" },
    { command: "tocsin agents list --state pending" },
    { command: "npm start -- incidents --state open", description: "The same commands in a clone" },
  ]),
  Command.withSubcommands([
    { group: "The service", commands: [serve, doctor, migrate] },
    { group: "What it knows", commands: [agents, incidents, outbox, summary] },
    { group: "What would be", commands: [simulate] },
    { group: "Where it is kept", commands: [backup, copy] },
  ]),
)
