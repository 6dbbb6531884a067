import process from "node:process"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ProgramModule } from "./threads/askThread.ts"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import { CliConfig, CliError, CliOutput, Command, Completions, GlobalFlag, type HelpDoc } from "effect/cli"
import { version } from "./version.ts"
import { commandTable } from "./commandTable.ts"
import { type CommandFailure, EXIT_CODES, type ExitName } from "./CommandFailure.ts"
import { Output } from "./output/Output.ts"
import { withoutSecrets } from "./output/texts.ts"
import { tocsin } from "./tocsin.ts"

/** The texts of all commands together: a bundle has them made, since they load every command. */
const allTexts = async () => (await import("./commandTexts.ts")).files()

/** The command `tocsin`, with the one of its commands that the arguments name first. */
const commandFor = async (args: ReadonlyArray<string>) => {
  const names = commandTable.flatMap(({ commands }): ReadonlyArray<string> =>
    commands.map(({ name }) => name),
  )
  const named = args.find((argument) => names.includes(argument))
  return tocsin((name) => name === named, named === undefined ? (await allTexts()).lines : {})
}

/** Writes the script of a shell's completions without loading the commands. */
const completions = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: Effect.fnUntraced(function* (shell) {
    if (Option.isNone(shell)) return
    const texts = yield* Effect.promise(allTexts)
    yield* Console.log(Completions.generate("tocsin", shell.value, texts.completions))
  }),
})

const exitCodesText = (): string =>
  Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`)
    .join("\n")

/** The help of a command. That of `tocsin` and of `serve` also lists all settings. */
const helpText = async (
  doc: HelpDoc.HelpDoc,
  path: ReadonlyArray<string>,
  formatter: CliOutput.Formatter,
): Promise<string> => {
  const hasSettings = path.length === 1 || path[1] === "serve"
  return [
    formatter.formatHelpDoc(doc),
    "",
    ...(path.length === 1 ? ["EXIT CODES", exitCodesText()] : [`Run '${path[0]} --help' for exit codes`]),
    ...(hasSettings ? ["", "SETTINGS (environment variables)", (await allTexts()).settings] : []),
    "",
  ].join("\n")
}

/** The text that Effect's command line puts before the message of a Schema, which states the expected value. */
const SCHEMA_PREFIX = "Expected: Schema validation failed: "

/** Commands that list without a subcommand. */
const LISTS: ReadonlyArray<string> = ["audit", "checks", "incidents", "oncall", "outbox", "windows"]

/** The command itself after `list`, where it lists; otherwise its help. */
const adviceFor = (path: ReadonlyArray<string>, errors: ReadonlyArray<CliError.CliError>): string => {
  const isList = errors.some(
    (error) =>
      (error._tag === "UnknownSubcommand" && error.subcommand === "list") ||
      (error._tag === "UnexpectedArgument" && error.arguments[0] === "list"),
  )
  const words = path.join(" ")
  return isList && LISTS.includes(path[1] ?? "")
    ? `Run ${words}, which lists by itself`
    : `See ${words} --help`
}

/** Writes help to standard output, and mistakes to standard error with the command that explains them. */
const presenterLayer = Layer.effect(
  CliOutput.Presenter,
  Effect.gen(function* () {
    const output = yield* Output
    const formatter = CliOutput.defaultFormatter({ colors: output.hasColour, globalFlags: "none" })
    // A reader may stop early.
    const print = (text: string) => Effect.ignore(output.write(text))
    return CliOutput.Presenter.of({
      present: (event) => {
        switch (event._tag) {
          case "Version":
            return print(`${event.version}\n`)
          case "Help":
            return event.reason === "Requested"
              ? Effect.flatMap(
                  Effect.promise(() => helpText(event.helpDoc, event.commandPath, formatter)),
                  print,
                )
              : output.note(`${formatter.formatHelpDoc(event.helpDoc)}\n`)
          case "InvalidInvocation": {
            const messages = event.errors.map(
              (error) => `tocsin: ${formatter.formatCliError(error).replace(SCHEMA_PREFIX, "")}\n`,
            )
            return output.note(
              withoutSecrets(`${messages.join("")}${adviceFor(event.commandPath, event.errors)}\n`),
            )
          }
        }
      },
    })
  }),
)

type CommandError = Effect.Error<ReturnType<typeof program>>

type OwnError = Exclude<CommandError, CliError.CliError | CommandFailure>

/** The exit code of each error that does not carry its own. */
const EXIT_OF: { readonly [Tag in OwnError["_tag"]]: ExitName } = {
  BadPolicy: "usage",
  BadSettings: "usage",
  BrokenInstall: "failed",
  BrokenPipe: "ok",
  CopyDiffers: "failed",
  OutputFailure: "failed",
  RateLimited: "refused",
  StartFailure: "failed",
  StorageError: "storage",
  ValidationError: "usage",
}

/** `tocsin help COMMAND` is `tocsin COMMAND --help`. */
const withHelp = ([first, ...rest]: ReadonlyArray<string>): ReadonlyArray<string> =>
  first === "help" ? [...rest, "--help"] : [...(first === undefined ? [] : [first]), ...rest]

const program = (given: ReadonlyArray<string>) => {
  const args = withHelp(given)
  return Effect.flatMap(
    Effect.promise(() => commandFor(args)),
    (command) => Command.runWith(command, { version })(args),
  )
}

const exitOf = (error: CommandError): ExitName => {
  if (CliError.isCliError(error)) return "usage"
  return error._tag === "CommandFailure" ? error.exit : EXIT_OF[error._tag]
}

/** Writes the reason of a failure to standard error; mistakes in the arguments are there already. */
const report = Effect.fnUntraced(function* (cause: Cause.Cause<CommandError>) {
  const { note } = yield* Output
  if (Cause.hasInterruptsOnly(cause)) return
  const failure = Cause.findErrorOption(cause)
  if (Option.isNone(failure)) {
    return yield* note(
      withoutSecrets(`tocsin ended by a defect; report it with this:\n${Cause.pretty(cause)}\n`),
    )
  }
  if (CliError.isCliError(failure.value) || failure.value._tag === "BrokenPipe") return
  yield* Effect.logDebug("the command failed", failure.value)
  yield* note(withoutSecrets(`tocsin: ${failure.value.message}\n`))
})

/** One of {@link EXIT_CODES}. */
export const codeOf = (exit: Exit.Exit<void, CommandError>): number => {
  if (Exit.isSuccess(exit)) return EXIT_CODES.ok.code
  if (Cause.hasInterruptsOnly(exit.cause)) return EXIT_CODES.interrupted.code
  const failure = Cause.findErrorOption(exit.cause)
  return EXIT_CODES[Option.isSome(failure) ? exitOf(failure.value) : "failed"].code
}

/** Runs a command, and reports its failure. `module` is the URL of the process's first module. */
export const runCommand = (args: ReadonlyArray<string>, module: string) => {
  const layers = Layer.mergeAll(
    Layer.succeed(ProgramModule, module),
    presenterLayer,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, completions] }),
  ).pipe(Layer.provideMerge(Output.layer), Layer.provideMerge(NodeServices.layer))
  return Effect.provide(Effect.tapCause(program(args), report), layers)
}

/** Once a command has ended, its process waits no longer for others that keep it open. */
const TIME_TO_END_MILLIS = 1_000

/** Runs a command as the main program of this process, which ends with its exit code. */
export const runCommandLine = (args: ReadonlyArray<string>, module: string): void =>
  NodeRuntime.runMain(runCommand(args, module), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      onExit(codeOf(exit as Exit.Exit<void, CommandError>))
      // An extension may keep timers or sockets open.
      if (args[0] !== "serve") setTimeout(() => process.exit(), TIME_TO_END_MILLIS).unref()
    },
  })
