import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Schema } from "effect"
import type { ExitName } from "./exitCodes.ts"

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

/** The arguments are wrong. */
export const usageFailure = (message: string): CommandFailure =>
  new CommandFailure({ exit: "usage", message })

/** The current state forbids the action. */
export const refusal = (message: string): CommandFailure => new CommandFailure({ exit: "refused", message })

/** The named object does not exist. */
export const notFound = (message: string): CommandFailure =>
  new CommandFailure({ exit: "not_found", message })

/** Turns a storage that another process uses into a refusal. */
export const refusedInUse = <A, E, R>(work: Effect.Effect<A, E | StorageError, R>) =>
  Effect.catchIf(
    work,
    (error): error is StorageError => Schema.is(StorageError)(error) && error.reason === "in_use",
    ({ message }) => Effect.fail(refusal(message)),
  )
