import { OutboxId } from "@tocsin/core/contract/Identifiers"
import { NotifierKind } from "@tocsin/core/contract/Status"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandFailure, usageFailure } from "../../CommandFailure.ts"
import { confirm } from "../../output/confirm.ts"
import { jsonText } from "../../output/jsonText.ts"
import { Output } from "../../output/Output.ts"
import * as flags from "../flags.ts"
import { useCases } from "../UseCases.ts"

const LARGEST_PAGE = 500

interface Outcome {
  readonly id: OutboxId
  readonly count: number
  readonly error: string | null
  /** How the process ends where this is the worst. */
  readonly exit: "not_found" | "refused" | undefined
}

/** Replays one; that it is not there, or is not failed, is its outcome. */
const replayOne = Effect.fnUntraced(function* (id: OutboxId) {
  const operations = yield* Operations
  return yield* operations.replay(id).pipe(
    Effect.map(({ count }): Outcome => ({ id, count, error: null, exit: undefined })),
    Effect.catchTags({
      NotFound: () =>
        Effect.succeed<Outcome>({
          id,
          count: 0,
          error: `there is no notification ${id}: list failed ones with tocsin outbox --state failed`,
          exit: "not_found",
        }),
      StateConflict: ({ message }) =>
        Effect.succeed<Outcome>({ id, count: 0, error: `${id}: ${message}`, exit: "refused" }),
    }),
  )
})

/** The ids of all that are failed now. Read before any is replayed, for one that fails again would come again. */
const failedIds = Effect.fnUntraced(function* (notifier: NotifierKind | undefined) {
  const queries = yield* Queries
  const ids: Array<OutboxId> = []
  let cursor: string | undefined
  do {
    const page = yield* queries.outbox({
      state: "failed",
      notifier,
      sort: "created_at",
      direction: "asc",
      cursor,
      limit: LARGEST_PAGE,
    })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return ids
})

interface Wanted {
  /** `undefined`: all that are failed. */
  readonly ids: ReadonlyArray<OutboxId> | undefined
  readonly notifier: NotifierKind | undefined
  readonly json: boolean
}

const replayWanted = Effect.fnUntraced(function* ({ ids, notifier, json }: Wanted) {
  const output = yield* Output
  const outcomes = yield* Effect.forEach(ids ?? (yield* failedIds(notifier)), replayOne)
  const replayed = outcomes.filter(({ count }) => count > 0)
  if (json) {
    const items = outcomes.map(({ exit: _exit, ...outcome }) => outcome)
    yield* output.write(`${jsonText({ items }, output.columns !== undefined)}\n`)
  } else if (ids === undefined) yield* output.write(`${replayed.length} will be sent again\n`)
  else yield* output.write(replayed.map(({ id }) => `${id}: will be sent again\n`).join(""))
  const failed = outcomes.filter(({ error }) => error !== null)
  // Of all of them, those whose incident is over cannot be replayed: no failure of what was asked for.
  if (failed.length === 0 || ids === undefined) return
  const exit = failed.some((outcome) => outcome.exit === "not_found") ? "not_found" : "refused"
  return yield* new CommandFailure({ exit, message: failed.map(({ error }) => error).join("\n") })
}, Effect.provide(useCases))

const isOutboxId = Schema.is(OutboxId)

/** `tocsin outbox replay` */
export const replay = Command.make(
  "replay",
  {
    ids: Argument.String("NOTIFICATION").pipe(
      Argument.withDescription("Ids of failed notifications, as tocsin outbox --state failed shows them"),
      Argument.variadic(),
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("All that are failed"),
      Flag.withoutNegation,
      Flag.withDefault(false),
    ),
    notifier: Flag.Literals("notifier", NotifierKind.literals).pipe(
      Flag.withDescription("With --all: only those of this notifier"),
      Flag.optional,
    ),
    yes: flags.yes,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ ids, all, notifier, yes, json }) {
    if (all === ids.length > 0) return yield* usageFailure("name notifications or use --all, but not both")
    if (Option.isSome(notifier) && !all) return yield* usageFailure("use --notifier only with --all")
    const known = ids.filter(isOutboxId)
    if (known.length < ids.length) {
      return yield* usageFailure("a notification ID is a lower-case UUID: list IDs with tocsin outbox")
    }
    if (all) yield* confirm("this sends every failed notification again, old ones too", yes)
    const wanted = { ids: all ? undefined : known, notifier: Option.getOrUndefined(notifier), json }
    return yield* replayWanted(wanted)
  }),
).pipe(Command.withDescription("Send failed notifications again, with the same ids"))
