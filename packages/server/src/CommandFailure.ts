import { Schema } from "effect"
import type { ExitName } from "./exitCodes.ts"

/** A command cannot do what it was asked: one message for the person, and how the process ends. */
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

/** Something is wrong with the arguments. */
export const usageFailure = (message: string): CommandFailure =>
  new CommandFailure({ exit: "usage", message })

/** The state of things forbids it. */
export const refusal = (message: string): CommandFailure => new CommandFailure({ exit: "refused", message })

/** There is no such thing. */
export const notFound = (message: string): CommandFailure =>
  new CommandFailure({ exit: "not_found", message })
