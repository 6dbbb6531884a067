import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit, Layer, Option } from "effect"
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli"
import manifest from "../package.json" with { type: "json" }
import type { CommandFailure } from "./CommandFailure.ts"
import { tocsin } from "./commands/tocsin.ts"
import { EXIT_CODES, type ExitName } from "./exitCodes.ts"
import { Output } from "./output/Output.ts"
import { presenterLayer } from "./output/presenterLayer.ts"
import { withoutSecrets } from "./output/texts.ts"
import { ProgramModule } from "@tocsin/simulation/backtestThread"

type CommandError = Effect.Error<ReturnType<typeof program>>

type OwnError = Exclude<CommandError, CliError.CliError | CommandFailure>

/** The exit code of each error that does not carry its own. */
const EXIT_OF: { readonly [Tag in OwnError["_tag"]]: ExitName } = {
  BadPolicy: "usage",
  BadSettings: "usage",
  BrokenPipe: "ok",
  CopyDiffers: "failed",
  OutputFailure: "failed",
  StartFailure: "failed",
  StorageError: "storage",
  ValidationError: "usage",
}

/** Runs the command that the arguments name. */
const program = (args: ReadonlyArray<string>) => Command.runWith(tocsin, { version: manifest.version })(args)

const exitOf = (error: CommandError): ExitName => {
  if (CliError.isCliError(error)) return "usage"
  return error._tag === "CommandFailure" ? error.exit : EXIT_OF[error._tag]
}

/**
 * Writes the reason of a failure to standard error; mistakes in the arguments are there already.
 */
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

const codeOf = (exit: Exit.Exit<void, CommandError>): number => {
  if (Exit.isSuccess(exit)) return EXIT_CODES.ok.code
  if (Cause.hasInterruptsOnly(exit.cause)) return EXIT_CODES.interrupted.code
  const failure = Cause.findErrorOption(exit.cause)
  return EXIT_CODES[Option.isSome(failure) ? exitOf(failure.value) : "failed"].code
}

/**
 * Runs a command as the main program of this process, which ends with one of {@link EXIT_CODES}.
 * `module` is the URL of the process's first module.
 */
export const runCommandLine = (args: ReadonlyArray<string>, module: string): void => {
  const layers = Layer.mergeAll(
    Layer.succeed(ProgramModule, module),
    presenterLayer,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  ).pipe(Layer.provideMerge(Output.layer), Layer.provideMerge(NodeServices.layer))
  NodeRuntime.runMain(Effect.provide(Effect.tapCause(program(args), report), layers), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(codeOf(exit as Exit.Exit<void, CommandError>)),
  })
}
