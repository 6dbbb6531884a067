import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Schema } from "effect"

/** How a command ends, for scripts. `--help` prints this table. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "done" },
  failed: { code: 1, meaning: "failed, or the server could not start; see the message" },
  usage: { code: 2, meaning: "the arguments or the settings are wrong" },
  not_found: { code: 3, meaning: "no agent, incident, notification, operator or silence has this ID" },
  storage: { code: 4, meaning: "the storage is unreachable, or cannot be read or written" },
  refused: { code: 5, meaning: "refused: the current state forbids it, or it was not confirmed" },
  attention: {
    code: 6,
    meaning: "works, but needs attention: the doctor found something, or a server wrote during a copy",
  },
  interrupted: { code: 130, meaning: "interrupted by a signal" },
} as const

export type ExitName = keyof typeof EXIT_CODES

/** A command failed: a message for the person, and how the process ends. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", {
  exit: Schema.Literals([
    "failed",
    "usage",
    "not_found",
    "storage",
    "refused",
    "attention",
  ] satisfies ReadonlyArray<ExitName>),
  message: Schema.String,
}) {}

/** The server cannot start. The message is for the person who started it. */
export class StartFailure extends Schema.TaggedError<StartFailure>()("StartFailure", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

export const failure = (message: string): CommandFailure => new CommandFailure({ exit: "failed", message })

export const usageFailure = (message: string): CommandFailure =>
  new CommandFailure({ exit: "usage", message })

export const refusal = (message: string): CommandFailure => new CommandFailure({ exit: "refused", message })

export const notFound = (message: string): CommandFailure =>
  new CommandFailure({ exit: "not_found", message })

/** Turns a storage that another process uses into a refusal. */
export const refusedInUse = <A, E, R>(work: Effect.Effect<A, E | StorageError, R>) =>
  Effect.catchIf(
    work,
    (error): error is StorageError => Schema.is(StorageError)(error) && error.reason === "in_use",
    ({ message }) => Effect.fail(refusal(message)),
  )
