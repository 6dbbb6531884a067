import * as Instant from "@tocsin/contract/formats/Instant"
import type { QueueNode } from "@tocsin/core/kernel/engine/LinkedQueue"
import type { Command, Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import { StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { type Clock, Effect } from "effect"
import type { CommandScope } from "../transactions/CommandScope.ts"

/** The reply or failure of a command, with which its caller's fiber continues. */
export type Answer = Effect.Effect<unknown, StorageError>

/** A command and its caller; the same object in every state. */
export interface Caller {
  readonly command: Command<Outcome<unknown>>
  readonly clock: Clock.Clock
  readonly resume: (answer: Answer) => void
  place: QueueNode | undefined
}

/** The data of a submission in each state besides its caller. */
interface Parts {
  readonly arrived: object
  readonly cached: { readonly scope: CommandScope; readonly outcome: Outcome<unknown> }
  /** `next` is what it will probably ask for after its first request; `undefined` if not known. */
  readonly locked: { readonly scope: CommandScope; readonly next: RowRequest | undefined }
  readonly alone: object
  /** An outcome is reported when its caller gets the reply, or would have got it. */
  readonly answered: { readonly answer: Answer | Outcome<unknown> }
}

type State = keyof Parts

/**
 * A command on its way from `Storage.transact` to its reply, in one of some states.
 * docs/architecture.md#group-commit-on-postgresql draws them, with the owner of each.
 */
export type Submission<Some extends State = State> = {
  [In in Some]: { readonly state: In; readonly caller: Caller } & Parts[In]
}[Some]

/** Where a command may go from each state. */
interface Moves {
  readonly arrived: "cached" | "locked" | "alone" | "answered"
  readonly cached: "locked" | "answered"
  readonly locked: "alone" | "answered"
  readonly alone: "answered"
}

export const submitted = (caller: Caller): Submission<"arrived"> => ({ state: "arrived", caller })

/** The submission in another state, with the parts of that state. */
export const moved = <From extends keyof Moves, To extends Moves[From]>(
  { caller }: { readonly state: From; readonly caller: Caller },
  state: To,
  parts: Parts[To],
): Submission<To> =>
  // Each state is built with its own parts; a union of parts by a type parameter loses that tie.
  ({ ...parts, state, caller }) as unknown as Submission<To>

/** Reasons of all commands alike: each would fail again alone. */
const reasonsOfAll: ReadonlySet<StorageFailure> = new Set(["unavailable", "read_only", "full", "damaged"])

/** After a failure of its group: it tries alone unless that cannot help. */
export const groupFailed = (
  locked: Submission<"locked">,
  error: StorageError | undefined,
): Submission<"alone" | "answered"> =>
  error !== undefined && reasonsOfAll.has(error.reason)
    ? moved(locked, "answered", { answer: Effect.fail(error) })
    : moved(locked, "alone", {})

const closed = Effect.fail(
  new StorageError({
    reason: "unavailable",
    message: "the storage is closed: send the request again once the service is running",
  }),
)

export const refused = (submission: Submission<"arrived" | "cached" | "locked">): Submission<"answered"> =>
  moved(submission, "answered", { answer: closed })

const NANOS_PER_MICRO = 1_000n

export const momentOf = ({ caller: { clock } }: Submission): Instant.Instant =>
  Instant.fromMicros(clock.currentTimeNanosUnsafe() / NANOS_PER_MICRO)
