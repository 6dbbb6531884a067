import type { ValidationError } from "@tocsin/contract/Errors"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { NotFound, StateConflict } from "@tocsin/core/usecases/OperationErrors"
import { Effect, type Layer } from "effect"
import { Command } from "effect/cli"
import { type CommandFailure, notFound, refusal } from "../CommandFailure.ts"
import { type BrokenPipe, Output, type OutputFailure, writeResult } from "../output/Output.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

type ActError =
  | BrokenPipe
  | CommandFailure
  | Layer.Error<typeof useCases>
  | NotFound
  | OutputFailure
  | StateConflict
  | StorageError
  | ValidationError

/** The result of a command: the document for programs, and the text for people. */
interface Result {
  readonly answer: unknown
  readonly text: string
  /** For standard error, after the result. */
  readonly note?: string
  /** How the command ends although it has a result. */
  readonly failure?: CommandFailure
}

/** A command with one result, as data. */
interface Act<Name extends string, Parameters extends Command.Command.Config> {
  readonly name: Name
  readonly parameters: Parameters
  /** Opens the storage by {@link onStorage} once the arguments are valid. */
  readonly run: (
    given: Command.Command.Config.InferValue<Parameters>,
  ) => Effect.Effect<Result, ActError, Output>
  /** The failures of refusals; their messages are the use case's unless given. */
  readonly refused?: {
    readonly NotFound?: (given: Command.Command.Config.InferValue<Parameters>) => CommandFailure
    readonly StateConflict?: (given: Command.Command.Config.InferValue<Parameters>) => CommandFailure
  }
}

/** A part of a command that needs the storage. Help and mistakes need none. */
export const onStorage = Effect.provide(useCases)

/** A command with one result, which it writes as text or as JSON. */
export const act = <const Name extends string, const Parameters extends Command.Command.Config>({
  name,
  parameters,
  refused = {},
  run,
}: Act<Name, Parameters>) =>
  Command.make(
    name,
    { parameters, json: flags.json },
    Effect.fnUntraced(function* ({ json, parameters: given }) {
      const { answer, failure, note, text } = yield* run(given).pipe(
        Effect.catchTags({
          NotFound: ({ message }) => Effect.fail(refused.NotFound?.(given) ?? notFound(message)),
          StateConflict: ({ message }) => Effect.fail(refused.StateConflict?.(given) ?? refusal(message)),
        }),
      )
      yield* writeResult(json, answer, () => text)
      if (note !== undefined) yield* (yield* Output).note(note)
      if (failure !== undefined) return yield* failure
    }),
  )
