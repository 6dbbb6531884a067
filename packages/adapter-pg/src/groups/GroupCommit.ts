import { type CacheCounters, cacheCounters, CommitMeter } from "@tocsin/core/engine/metrics/CommitMeter"
import type { Instruments } from "@tocsin/core/engine/metrics/Instruments"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import type { AgentId } from "@tocsin/core/contract/Identifiers"
import { Cause, Clock, Duration, Effect, Option, type Scope } from "effect"
import { AgentCache } from "../cache/AgentCache.ts"
import { CachedGroup } from "../cache/CachedGroup.ts"
import { type Written, writeIfFresh } from "../cache/verifyingUpdate.ts"
import type { CommandDatabase } from "../Database.ts"
import * as RealTime from "../RealTime.ts"
import { retryTransient } from "../transactions/retryTransient.ts"
import { transactAlone } from "../transactions/transactAlone.ts"
import { agentGroup } from "./agentGroup.ts"
import type { GroupScope } from "./GroupScope.ts"
import { type GroupKind, groupTransaction } from "./groupTransaction.ts"
import { Lane, type LaneWidth } from "./Lane.ts"
import { outboxGroup } from "./outboxGroup.ts"
import { type Asking, Submission } from "./Submission.ts"

/** A transaction of so much takes some ten milliseconds, in which the next group gathers. */
const MAX_COMMANDS = 64
const MAX_ROWS = 1_600

/**
 * While PostgreSQL writes one group, the service reads and decides the next one, and neither waits for the other. More than
 * two only share the same processors.
 */
export const CACHED_GROUPS: LaneWidth = { groups: 2, besideFrom: 8 }

/** How long a storage that is closed goes on with what it was asked before: a group, and the one that gathered meanwhile. */
const FINISH_FOR = Duration.seconds(10)

/** These say nothing about a command: its neighbours, and itself alone, would fail for the same reason. */
const reasonsOfAll: ReadonlySet<StorageFailure> = new Set(["unavailable", "read_only", "full", "damaged"])

const closed = Effect.fail(
  new StorageError({
    reason: "unavailable",
    message: "the storage is closed: send the request again once the service is running",
  }),
)

interface GroupCommitOptions {
  /** For commands that have a transaction of their own. */
  readonly database: CommandDatabase
  /** For groups, so that nobody else keeps them waiting for a connection; its plans use indexes. */
  readonly groupDatabase: CommandDatabase
  /** How many groups are decided on locked rows at a time; an agent's commands are always in the same lane. */
  readonly lanes: number
  readonly cachedRows: number
  readonly instruments: Instruments
}

/** What is counted of groups: of those that are decided on cached rows, and on locked ones. */
interface GroupMeters {
  readonly cached: CommitMeter
  readonly locked: CommitMeter
  readonly lookups: CacheCounters
}

const metersOf = (instruments: Instruments): GroupMeters => ({
  cached: new CommitMeter(instruments, { storage: "postgres", way: "cached" }),
  locked: new CommitMeter(instruments, { storage: "postgres", way: "locked" }),
  lookups: cacheCounters(instruments, "postgres"),
})

/**
 * Group commit: commands that arrive while a commit is under way share the next one, and each is answered after it. An idle
 * storage commits at once; there is no timer.
 *
 * A command takes the first of three ways that will do:
 * 1. decided on cached rows, and written with others by one statement that verifies them;
 * 2. decided on locked rows, in a transaction with others of its kind: of one agent, or of outbox items;
 * 3. in a transaction of its own, in its caller's fiber: what searches, what has no agent, whoever fails with others.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #cache: AgentCache
  readonly #meters: GroupMeters
  readonly #arrivals = new Lane<Submission>(CACHED_GROUPS)
  /** Agents of cached groups that are being written, and what came for them since. */
  readonly #beingWritten = new Set<AgentId>()
  readonly #early = new Set<Submission>()
  readonly #agents: ReadonlyArray<Lane<Submission>>
  readonly #outbox = new Lane<Submission>()
  #isClosed = false

  private constructor(options: GroupCommitOptions) {
    this.#options = options
    this.#cache = new AgentCache(options.cachedRows)
    this.#meters = metersOf(options.instruments)
    this.#agents = Array.from({ length: options.lanes }, () => new Lane<Submission>())
  }

  /** Starts one whose groups run until the scope closes. Then it finishes what it has begun, and refuses the rest. */
  static readonly start = (options: GroupCommitOptions): Effect.Effect<GroupCommit, never, Scope.Scope> =>
    Effect.gen(function* () {
      const groups = new GroupCommit(options)
      yield* Effect.addFinalizer(() => Effect.sync(() => groups.#refuseAll()))
      yield* Effect.forkScoped(groups.#arrivals.work(groups.#runArrivals))
      const ofAgents = agentGroup(groups.#cache)
      for (const lane of groups.#agents) yield* Effect.forkScoped(groups.#work(lane, ofAgents))
      yield* Effect.forkScoped(groups.#work(groups.#outbox, outboxGroup))
      yield* Effect.addFinalizer(() => groups.#finish)
      return groups
    })

  /** Runs a command; see `Storage.transact`. Interruption takes it back as long as no group has begun with it. */
  transact<A>(command: Command<A>): Effect.Effect<A, StorageError> {
    return Clock.clockWith((clock) =>
      Effect.callback<A, StorageError>((resume) => {
        if (this.#isClosed) return resume(closed)
        const submission = new Submission(
          command,
          clock,
          // Answers are replies of this very command.
          resume as (answer: Effect.Effect<unknown, StorageError>) => void,
        )
        this.#arrivals.add(submission)
        return Effect.sync(() => {
          this.#arrivals.remove(submission)
          this.#early.delete(submission)
          this.#laneOf(submission)?.remove(submission)
        })
      }),
    )
  }

  readonly #runArrivals: Effect.Effect<void> = Effect.suspend(() => {
    const group = new CachedGroup(this.#cache, this.#beingWritten)
    while (!group.isFull) {
      const submission = this.#arrivals.take()
      if (submission === undefined) break
      const kind = group.try(submission)
      if (kind === "locked") this.#missed(submission)
      else if (kind === "alone") this.#transactAlone(submission)
      else if (kind === "early") this.#early.add(submission)
    }
    return group.isEmpty ? Effect.void : this.#write(group)
  })

  #missed(submission: Submission): void {
    this.#meters.lookups.miss.value += 1
    this.#passOn(submission)
  }

  #settle(group: CachedGroup, written: Written, startedAt: number): ReadonlyArray<Submission> {
    const { cached, lookups } = this.#meters
    cached.committed(group.size, performance.now() - startedAt)
    const stale = group.settle(written)
    lookups.hit.value += group.size - stale.length
    lookups.stale.value += stale.length
    return stale
  }

  #write(group: CachedGroup): Effect.Effect<void> {
    const { pg } = this.#options.groupDatabase
    const startedAt = performance.now()
    const passOn = (submissions: ReadonlyArray<Submission>) => {
      for (const submission of submissions) this.#passOn(submission)
    }
    return writeIfFresh(pg, group.updates(), this.#cache.serverRun).pipe(
      Effect.tapCause(logFailure),
      Effect.matchCause({
        onSuccess: (written) => passOn(this.#settle(group, written, startedAt)),
        // Nothing was kept; or it was, and its answer was lost: then deciding again has the outcome of a repeated request.
        onFailure: () => {
          this.#meters.cached.failed()
          passOn(group.giveUp())
        },
      }),
      Effect.onInterrupt(() => Effect.sync(() => refuse(group.giveUp()))),
      Effect.ensuring(Effect.sync(() => this.#retryEarly())),
    )
  }

  #retryEarly(): void {
    if (this.#early.size === 0) return
    this.#arrivals.putBack(this.#early)
    this.#early.clear()
  }

  #work<Asked extends GroupScope>(lane: Lane<Submission>, kind: GroupKind<Asked>): Effect.Effect<void> {
    const { groupDatabase } = this.#options
    const runGroup = Effect.suspend(() => {
      const members = takeMembers(lane, kind)
      const startedAt = performance.now()
      const evict = (member: Asking<Asked>) => {
        members.delete(member)
        this.#transactAlone(member)
      }
      return retryTransient(groupTransaction(groupDatabase, kind, { members, evict })).pipe(
        Effect.tapCause(logFailure),
        Effect.matchCause({
          onSuccess: (replies) => {
            this.#meters.locked.committed(replies.length, performance.now() - startedAt)
            for (const { member, reply } of replies) member.reply(reply)
          },
          onFailure: (cause) => {
            this.#meters.locked.failed()
            this.#recover(members, cause)
          },
        }),
        Effect.onInterrupt(() => Effect.sync(() => refuse(members))),
      )
    })
    return lane.work(runGroup)
  }

  /** Nothing of a group was kept: each member tries alone, unless that cannot help. */
  #recover(members: Iterable<Submission>, cause: Cause.Cause<StorageError>): void {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    const isOfAll = error !== undefined && reasonsOfAll.has(error.reason)
    for (const member of members) {
      if (isOfAll) member.answer(Effect.fail(error))
      else this.#transactAlone(member)
    }
  }

  #passOn(submission: Submission): void {
    const lane = this.#laneOf(submission)
    if (lane === undefined) this.#transactAlone(submission)
    else lane.add(submission)
  }

  #transactAlone(submission: Submission): void {
    submission.answer(transactAlone(this.#options.database, submission.command))
  }

  #laneOf({ asked }: Submission): Lane<Submission> | undefined {
    if (asked?.kind !== "agent") return asked && this.#outbox
    const { length } = this.#agents
    return this.#agents[length === 1 ? 0 : hashOf(asked.agent_id) % length]
  }

  readonly #finish: Effect.Effect<void> = Effect.suspend(() => {
    this.#isClosed = true
    const lanes = Effect.forEach([...this.#agents, this.#outbox], (lane) => lane.atRest, { discard: true })
    return Effect.race(Effect.andThen(this.#arrivals.atRest, lanes), RealTime.pause(FINISH_FOR))
  })

  #refuseAll(): void {
    this.#retryEarly()
    for (const lane of [this.#arrivals, ...this.#agents, this.#outbox]) refuse(lane.takeAll())
  }
}

const refuse = (submissions: Iterable<Submission>): void => {
  for (const submission of submissions) submission.answer(closed)
}

/** Callers do not hear of it: their commands are decided anew. */
const logFailure = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.logDebug("a group of commands failed, and they are decided anew", cause)

const hashOf = (text: string): number => {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) >>> 0
  return hash
}

const asksFor = <Asked extends GroupScope>(
  submission: Submission,
  { scope }: GroupKind<Asked>,
): submission is Asking<Asked> => submission.asked?.kind === scope

const takeMembers = <Asked extends GroupScope>(
  lane: Lane<Submission>,
  kind: GroupKind<Asked>,
): Set<Asking<Asked>> => {
  const members = new Set<Asking<Asked>>()
  let rows = 0
  while (members.size < MAX_COMMANDS && rows < MAX_ROWS) {
    const member = lane.take()
    // A lane holds members of one kind only.
    if (member === undefined || !asksFor(member, kind)) break
    members.add(member)
    rows += rowsOf(member.asked)
  }
  return members
}

const rowsOf = (asked: GroupScope): number =>
  asked.kind === "agent" ? asked.check_ids.length : asked.outbox_ids.length
