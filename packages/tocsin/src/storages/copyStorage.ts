import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { unknownOptions } from "@tocsin/contract/formats/nearestName"
import { Effect, Exit } from "effect"
import { causeToTocsinError } from "../api/Calls.ts"
import { TocsinError } from "../TocsinError.ts"
import type { CopiedTable } from "./copyTables.ts"
import type * as Places from "./places.ts"
import { isStorageChoice, type StorageChoice } from "./storages.ts"

export interface CopyStorageOptions {
  /** Leaves out numbers over time, which a key-value store does not keep. */
  readonly without?: "numbers" | undefined
}

/** The storage of an argument. Throws an error of code `options`. */
const endOfArgument = (name: string, choice: unknown, endOf: typeof Places.endOf): Places.CopyEnd => {
  if (!isStorageChoice(choice))
    throw new TocsinError("options", `${name} must be sqlite(file), postgres(url) or keyValue(…)`)
  const [problem] = choice.problems ?? []
  if (problem !== undefined) throw new TocsinError("options", `${name}: ${problem}`)
  const end = endOf(choice)
  if (end === undefined)
    throw new TocsinError("options", `${name} must not be memory(), which nothing else can read`)
  return end
}

const OLD = "has another schema, or no data of Tocsin: start this version of the monitor on it once"

/** Refuses a database of an earlier schema, which has other columns. */
const requireSchema = Effect.fnUntraced(function* ({ name, state }: Places.CopyEnd) {
  if (state === undefined) return
  const { absent, applied, known } = yield* state
  if (absent !== undefined)
    return yield* new StorageError({
      reason: "unavailable",
      message: `there is no file ${absent}: name the one that a monitor has written`,
    })
  if (applied < known) return yield* new StorageError({ reason: "newer", message: `${name} ${OLD}` })
})

/**
 * Copies all that a storage keeps into another, empty one, verifies it, and resolves with the tables and the SHA-256
 * that both have. The target has all or nothing. Close the monitors on both first: the copy lacks later changes.
 * Rejects with code `options`, or `storage`: `in_use` is the reason where the target has data, or a process has one of
 * them.
 *
 * @example
 * ```ts
 * await copyStorage(sqlite("monitoring.db"), postgres(process.env.DATABASE_URL ?? ""))
 * ```
 */
export const copyStorage = async (
  from: StorageChoice,
  to: StorageChoice,
  options: CopyStorageOptions = {},
): Promise<ReadonlyArray<CopiedTable>> => {
  const given: unknown = options
  if (typeof given !== "object" || given === null)
    throw new TocsinError("options", 'the options must be an object, such as { without: "numbers" }')
  const { without } = options
  const [unknown] = unknownOptions("", given, ["without"])
  if (unknown !== undefined) throw new TocsinError("options", unknown)
  if (without !== undefined && without !== "numbers")
    throw new TocsinError("options", 'without must be "numbers", which alone can be left out')
  // Programs on one storage do without the code of others.
  const [{ endOf }, { copyBetween }] = await Promise.all([import("./places.ts"), import("./copyTables.ts")])
  const source = endOfArgument("from", from, endOf)
  const target = endOfArgument("to", to, endOf)
  const copied = await Effect.runPromiseExit(
    Effect.andThen(requireSchema(source), copyBetween(source, target, { without })).pipe(
      Effect.catchTag("CopyDiffers", ({ message }) =>
        Effect.fail(new StorageError({ reason: "damaged", message })),
      ),
    ),
  )
  if (Exit.isSuccess(copied)) return copied.value
  throw causeToTocsinError(copied.cause)
}
