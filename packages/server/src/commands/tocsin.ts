import { Effect } from "effect"
import { Command } from "effect/cli"
import { serve as runServer } from "../serve.ts"
import { agents } from "./agents.ts"
import { audit } from "./audit.ts"
import { backup } from "./backup.ts"
import { checks } from "./checks.ts"
import { copy } from "./copy.ts"
import { doctor } from "./doctor.ts"
import { incidents } from "./incidents.ts"
import { integrations } from "./integrations.ts"
import { migrate } from "./migrate.ts"
import { operators } from "./operators.ts"
import { outbox } from "./outbox.ts"
import { policy } from "./policy.ts"
import { silences } from "./silences.ts"
import { simulate } from "./simulate.ts"
import { summary } from "./summary.ts"
import { windows } from "./windows.ts"

const serve = Command.make("serve", {}, () => Effect.sync(runServer)).pipe(
  Command.withDescription(
    "Run the server, as tocsin does without a command. Environment variables configure it",
  ),
  Command.withShortDescription("Run the server (the default)"),
)

/** `tocsin`: all commands. */
export const tocsin = Command.make("tocsin").pipe(
  Command.withDescription(
    "Receives heartbeats and check results, opens incidents and sends notifications.\n" +
      "  Commands open the storage that the settings name, whether a server runs on it or not.",
  ),
  Command.withExamples([
    { command: "tocsin", description: "Run the server; npm start does the same in a clone" },
    { command: "tocsin agents list --state pending" },
    { command: "npm start -- incidents --state open", description: "The same commands in a clone" },
  ]),
  Command.withSubcommands([
    { group: "The service", commands: [serve, doctor, migrate] },
    {
      group: "Agents, incidents and notifications",
      commands: [agents, integrations, checks, incidents, silences, outbox, summary],
    },
    { group: "Operators", commands: [operators, audit] },
    { group: "Policy and simulation", commands: [policy, windows, simulate] },
    { group: "Backup", commands: [backup, copy] },
  ]),
)
