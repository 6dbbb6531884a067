import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { cacheCounters, CommitMeter, type Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import type { Submit } from "@tocsin/core/kernel/ports/Submit"
import { Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Cause, Duration, Effect, Option, type Scope } from "effect"
import { AgentCache } from "../cache/AgentCache.ts"
import { type Written, compareAndSwap } from "../cache/optimisticUpdate.ts"
import { type CommandDatabase, retryTransient } from "../Database.ts"
import type { TopicAnnouncer } from "../hints/remoteWakeups.ts"
import * as RealTime from "../RealTime.ts"
import type { CommandScope } from "../transactions/CommandScope.ts"
import { transactAlone } from "../transactions/commandTransaction.ts"
import { CachedGroup } from "./CachedGroup.ts"
import { Lane, type LaneWidth } from "./Lane.ts"
import { lockedGroup } from "./lockedGroup.ts"
import {
  type Answer,
  type Caller,
  groupFailed,
  moved,
  refused,
  type Submission,
  submitted,
} from "./Submission.ts"

/** A transaction of this size takes about ten milliseconds, in which the next group gathers. */
const MAX_COMMANDS = 64
const MAX_ROWS = 1_600

/** While PostgreSQL writes one group, the service decides the next. More only share the processors. */
export const CACHED_GROUPS: LaneWidth = { groups: 2, besideFrom: 16 }

/** How many groups are decided on locked rows at a time. The commands of one agent are always in the same lane. */
const LANES = 2

/** One for each lane and cached group, one for the outbox, and one to look for due deliveries. */
export const GROUP_CONNECTIONS = LANES + CACHED_GROUPS.groups + 2

/** How long a closing storage still works on earlier commands: one group, and the one that gathered meanwhile. */
const FINISH_FOR = Duration.seconds(10)

interface GroupCommitOptions {
  /** For commands that have a transaction of their own. */
  readonly database: CommandDatabase
  /** For groups, which never wait for other users of a connection; its plans use indexes. */
  readonly groupDatabase: CommandDatabase
  readonly cacheBytes: number
  readonly instruments: Instruments
  readonly topics: TopicAnnouncer
}

/**
 * Commands that arrive during a commit share the next one. docs/architecture.md#group-commit-on-postgresql draws
 * the states of a command. The lane of arrivals, those of locked agents and that of the outbox are each in one mode:
 *
 * - idle: no group runs, and the next command begins one immediately
 * - busy: a group runs, and commands wait for its end
 * - double: at least 16 arrivals wait beside a group that is being written, and a second group decides them, without
 *   those whose agent is being written
 *
 * After `#finish` every new command is refused, and what waits has 10 s to end.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #cache: AgentCache
  readonly #cachedMeter: CommitMeter
  readonly #lockedMeter: CommitMeter
  readonly #lookups: ReturnType<typeof cacheCounters>
  readonly #arrivals = new Lane<Submission<"arrived">>(CACHED_GROUPS)
  readonly #agents: ReadonlyArray<Lane<Submission<"locked">>>
  readonly #outbox = new Lane<Submission<"locked">>()
  #isClosed = false
  #runningAlone = 0
  #aloneAtRest: (() => void) | undefined

  private constructor(options: GroupCommitOptions) {
    const { cacheBytes, instruments } = options
    this.#options = options
    this.#cache = new AgentCache(cacheBytes)
    this.#cachedMeter = new CommitMeter(instruments, { storage: "postgres", path: "cached" })
    this.#lockedMeter = new CommitMeter(instruments, { storage: "postgres", path: "locked" })
    this.#lookups = cacheCounters(instruments, "postgres")
    this.#agents = Array.from({ length: LANES }, () => new Lane<Submission<"locked">>())
  }

  /** Runs groups until the scope closes, finishes those that it has, and refuses the rest. */
  static readonly start = (options: GroupCommitOptions): Effect.Effect<GroupCommit, never, Scope.Scope> =>
    Effect.gen(function* () {
      const groups = new GroupCommit(options)
      yield* Effect.addFinalizer(() => Effect.sync(() => groups.#refuseAll()))
      yield* Effect.forkScoped(groups.#arrivals.work(groups.#runCached))
      for (const lane of groups.#lanes) yield* Effect.forkScoped(lane.work(groups.#runLocked(lane)))
      yield* Effect.addFinalizer(() => groups.#finish)
      return groups
    })

  /** Withdraws a command until a group has begun with it or, alone, until its COMMIT. */
  readonly submit: Submit = (command, clock, resume) => {
    // The answer is the reply of this very command.
    const caller: Caller = { command, clock, resume: resume as (answer: Answer) => void, place: undefined }
    const arrived = submitted(caller)
    this.#handOn(this.#isClosed ? refused(arrived) : arrived)
    return () => caller.place?.leave()
  }

  /** Hands a command to the owner of its state. */
  #handOn(submission: Submission): void {
    switch (submission.state) {
      case "arrived":
        this.#arrivals.add(submission)
        break
      case "cached":
        // Its group has it.
        break
      case "locked":
        this.#laneOf(submission.scope).add(submission)
        break
      case "alone":
        submission.caller.resume(this.#alone(submission))
        break
      case "answered": {
        const { answer, caller } = submission
        caller.resume(answer instanceof Outcome ? Effect.succeed(this.#committed(answer)) : answer)
      }
    }
  }

  #alone(submission: Submission<"alone">): Answer {
    this.#runningAlone += 1
    const transaction = transactAlone(this.#options.database, submission.caller.command, this.#committed)
    return Effect.onExit(transaction, (answer) =>
      Effect.sync(() => {
        moved(submission, "answered", { answer })
        this.#runningAlone -= 1
        if (this.#runningAlone === 0) this.#aloneAtRest?.()
      }),
    )
  }

  /** Reports what was committed to this process and the others. Returns the reply. */
  readonly #committed = <A>(outcome: Outcome<A>): A => {
    this.#options.topics.note(outcome.changes.topics)
    return outcome.committed()
  }

  #handAllOn(submissions: ReadonlyArray<Submission>): void {
    for (const submission of submissions) this.#handOn(submission)
  }

  readonly #runCached: Effect.Effect<void> = Effect.suspend(() => {
    const group = new CachedGroup(this.#cache)
    const early: Array<Submission<"arrived">> = []
    while (!group.isFull) {
      const arrived = this.#arrivals.take()
      if (arrived === undefined) break
      const submission = group.add(arrived)
      if (submission.state === "arrived") {
        early.push(submission)
        continue
      }
      if (submission.state === "locked") this.#lookups.miss.value += 1
      this.#handOn(submission)
    }
    this.#arrivals.putBack(early)
    return group.size === 0 ? Effect.void : this.#write(group)
  })

  #write(group: CachedGroup): Effect.Effect<void> {
    const startedAt = performance.now()
    return compareAndSwap(this.#options.groupDatabase.pg, group.begin(), this.#cache.serverRun).pipe(
      Effect.tapCause(logFailure),
      Effect.matchCause({
        onSuccess: (written) => this.#written(group, written, startedAt),
        onFailure: () => {
          this.#cachedMeter.failed()
          this.#handAllOn(group.giveUp())
        },
      }),
      Effect.onInterrupt(() => Effect.sync(() => this.#handAllOn(group.refuse()))),
      Effect.ensuring(Effect.sync(() => this.#arrivals.release())),
    )
  }

  #written(group: CachedGroup, written: Written, startedAt: number): void {
    this.#cachedMeter.committed(group.size, performance.now() - startedAt)
    const submissions = group.settle(written)
    const stale = countIn(submissions, "locked")
    this.#lookups.hit.value += group.size - stale
    this.#lookups.stale.value += stale
    this.#handAllOn(submissions)
  }

  #runLocked(lane: Lane<Submission<"locked">>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const members = takeMembers(lane)
      const startedAt = performance.now()
      return retryTransient(lockedGroup(this.#options.groupDatabase, this.#cache, members)).pipe(
        Effect.tapCause(logFailure),
        Effect.matchCause({
          onSuccess: (decided) => {
            const answered = countIn(decided, "answered")
            this.#lockedMeter.committed(answered, performance.now() - startedAt)
            this.#handAllOn(decided)
          },
          onFailure: (cause) => {
            this.#lockedMeter.failed()
            const error = Option.getOrUndefined(Cause.findErrorOption(cause))
            this.#handAllOn(members.map((member) => groupFailed(member, error)))
          },
        }),
        Effect.onInterrupt(() => Effect.sync(() => this.#handAllOn(members.map(refused)))),
      )
    })
  }

  get #lanes(): ReadonlyArray<Lane<Submission<"locked">>> {
    return [...this.#agents, this.#outbox]
  }

  #laneOf(scope: CommandScope): Lane<Submission<"locked">> {
    if (scope.kind === "outbox") return this.#outbox
    return this.#agents[hashOf(scope.agent_id) % this.#agents.length] ?? this.#outbox
  }

  readonly #finish: Effect.Effect<void> = Effect.suspend(() => {
    this.#isClosed = true
    const lanes = Effect.forEach(this.#lanes, (lane) => lane.atRest, { discard: true })
    // Members of a group whose rows others held run alone, in their callers' fibers.
    const alone = Effect.callback<void>((resume) => {
      this.#aloneAtRest = () => resume(Effect.void)
      if (this.#runningAlone === 0) this.#aloneAtRest()
    })
    const atRest = Effect.all([this.#arrivals.atRest, lanes, alone], { discard: true })
    return Effect.race(atRest, RealTime.pause(FINISH_FOR))
  })

  #refuseAll(): void {
    this.#handAllOn(this.#arrivals.takeAll().map(refused))
    for (const lane of this.#lanes) this.#handAllOn(lane.takeAll().map(refused))
  }
}

/** Callers do not notice: their commands are decided again. */
const logFailure = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.logDebug("a group of commands failed, and they are decided again", cause)

const countIn = (submissions: ReadonlyArray<Submission>, state: Submission["state"]): number =>
  submissions.reduce((count, submission) => (submission.state === state ? count + 1 : count), 0)

const hashOf = (agentId: AgentId): number => {
  let hash = 0
  for (let at = 0; at < agentId.length; at++) hash = (hash * 31 + agentId.charCodeAt(at)) >>> 0
  return hash
}

const takeMembers = (lane: Lane<Submission<"locked">>): ReadonlyArray<Submission<"locked">> => {
  const members: Array<Submission<"locked">> = []
  let rows = 0
  while (members.length < MAX_COMMANDS && rows < MAX_ROWS) {
    const member = lane.take()
    if (member === undefined) break
    members.push(member)
    rows += rowsOf(member.scope)
  }
  return members
}

const rowsOf = ({ request: { checks, rows } }: CommandScope): number =>
  checks?.check_ids.length ?? rows?.outbox?.length ?? 0
