import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import {
  Outcome,
  reporting,
  commandOf,
  type Decision,
  loneCommandOf,
  type LoneDecision,
} from "@tocsin/core/kernel/unitOfWork/Decision"
import { find } from "@tocsin/core/kernel/unitOfWork/Search"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { boolean, integer, oneOf } from "@tocsin/test/properties/arbitraries"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { agentRecord, outboxIdOf } from "@tocsin/testing/records"
import { Arbitrary, Clock, Effect } from "effect"
import { AgentCache } from "../../src/cache/AgentCache.ts"
import { CachedGroup } from "../../src/groups/CachedGroup.ts"
import {
  type Answer,
  type Caller,
  groupFailed,
  moved,
  refused,
  type Submission,
  submitted,
} from "../../src/groups/Submission.ts"
import { readFileSync } from "node:fs"

/** A command's next step after it has requested its agent. */
const kinds = ["seen", "renamed", "joins", "registers", "searches", "settles", "throws"] as const
type Kind = (typeof kinds)[number]

const searchingCommand = loneCommandOf(function* (unit): LoneDecision<string> {
  yield* find("idlePendingAgents", { seenBefore: unit.now, limit: 1 })
  return "searches"
})

const askingCommand = commandOf(function* (unit, kind: Kind, agent_id: AgentId): Decision<string> {
  if (kind === "settles") yield { rows: { outbox: [outboxIdOf("an item")] } }
  else yield { agents: [agent_id] }
  if (kind === "joins") yield { openIncidents: [], incidents: [] }
  if (kind === "registers") yield { pendingAgents: true }
  if (kind === "throws") throw new Error("as a decision with a defect")
  if (kind === "seen" || kind === "renamed") {
    const agent = unit.agents.get(agent_id)
    const change = kind === "seen" ? { last_seen_at: unit.now } : { hostname: `renamed ${String(unit.now)}` }
    if (agent !== undefined) unit.putAgent({ ...agent, ...change })
  }
  return kind
})

/** How the step of an owner ends. */
const ends = ["well", "badly", "closed"] as const
type End = (typeof ends)[number]

const REPLY: Answer = Effect.succeed("a reply")

const AGENTS = ["a", "b", "c"]

const errorOf = (isOfAll: boolean) =>
  new StorageError({ reason: isOfAll ? "full" : "other", message: "as PostgreSQL says" })

/** Commands on a cache that knows some agents, moved on as their owners do, without a database. */
class Life {
  readonly moves: Array<string> = []
  readonly answers = new Map<Caller, number>()
  readonly #cache = new AgentCache(1_000_000)
  readonly #at = new Map<Caller, Submission>()

  constructor(cached: ReadonlyArray<string>) {
    for (const name of cached) {
      const agent = { row: agentRecord(name), version: 1 }
      this.#cache.keep({ agent, found: 1, checks: [] }, "a run")
    }
  }

  submit(kind: Kind, name: string): void {
    const caller: Caller = {
      command: reporting(
        kind === "searches" ? searchingCommand() : askingCommand(kind, AgentId.make(name)),
        () => {},
      ),
      clock: Clock.Clock.defaultValue(),
      resume: (_answer: Answer) => this.answers.set(caller, (this.answers.get(caller) ?? 0) + 1),
      place: undefined,
    }
    this.#move(submitted(caller))
  }

  /** Decides all that have arrived on cached rows. Meanwhile others may be written. */
  decideCached(): CachedGroup {
    const group = new CachedGroup(this.#cache)
    for (const arrived of this.#in("arrived")) {
      const submission = group.add(arrived)
      // Another group is writing its agent.
      if (submission !== arrived) this.#move(submission)
    }
    group.begin()
    return group
  }

  write(group: CachedGroup, how: End, isFresh: boolean): void {
    const submissions = {
      well: () => group.settle({ version: 2, isFresh: () => isFresh }),
      badly: () => group.giveUp(),
      closed: () => group.refuse(),
    }
    for (const submission of submissions[how]()) this.#move(submission)
  }

  decideLocked(how: End, isOther: boolean): void {
    for (const locked of this.#in("locked")) {
      const outcomes = {
        well: (): Submission =>
          isOther ? moved(locked, "alone", {}) : moved(locked, "answered", { answer: REPLY }),
        badly: () => groupFailed(locked, errorOf(isOther)),
        closed: () => refused(locked),
      }
      this.#move(outcomes[how]())
    }
  }

  close(): void {
    for (const arrived of this.#in("arrived")) this.#move(refused(arrived))
    this.decideLocked("closed", false)
  }

  get cachedOnes(): ReadonlyArray<Submission<"cached">> {
    return this.#in("cached")
  }

  #in<State extends Submission["state"]>(state: State): ReadonlyArray<Submission<State>> {
    // Those of the union that are in this state.
    return Array.from(this.#at.values()).filter((at) => at.state === state) as unknown as ReadonlyArray<
      Submission<State>
    >
  }

  #move(submission: Submission): void {
    const { caller, state } = submission
    const from = this.#at.get(caller)?.state ?? "absent"
    this.#at.set(caller, submission)
    this.moves.push(`${from} ${state}`)
    if (submission.state === "alone") this.#move(moved(submission, "answered", { answer: REPLY }))
    if (submission.state !== "answered") return
    const { answer } = submission
    caller.resume(answer instanceof Outcome ? Effect.succeed(answer.committed()) : answer)
  }
}

interface Round {
  readonly commands: ReadonlyArray<{ readonly kind: Kind; readonly name: string }>
  readonly write: End
  readonly isFresh: boolean
  readonly lock: End
  readonly isOther: boolean
}

const rounds = Arbitrary.array(
  Arbitrary.all({
    commands: Arbitrary.array(Arbitrary.all({ kind: oneOf(...kinds), name: oneOf(...AGENTS) }), {
      minLength: 0,
      maxLength: 6,
    }),
    write: oneOf(...ends),
    isFresh: boolean,
    lock: oneOf(...ends),
    isOther: boolean,
  }),
  { minLength: 1, maxLength: 6 },
)

/** Two cached groups at a time, then a locked one; at the end all that is left is refused. */
const live = (known: number, all: ReadonlyArray<Round>): Life => {
  const life = new Life(AGENTS.slice(0, known))
  for (const { commands, isFresh, isOther, lock, write } of all) {
    const half = Math.ceil(commands.length / 2)
    for (const { kind, name } of commands.slice(0, half)) life.submit(kind, name)
    const first = life.decideCached()
    for (const { kind, name } of commands.slice(half)) life.submit(kind, name)
    const second = life.decideCached()
    life.write(first, write, isFresh)
    life.write(second, "well", isFresh)
    life.decideLocked(lock, isOther)
  }
  life.close()
  return life
}

const [, drawing = ""] = readFileSync("docs/architecture.md", "utf8").split("## Group commit on PostgreSQL")

/** The moves that the architecture page draws. */
const DRAWN = Array.from(
  drawing.matchAll(/^ {2}(\[\*\]|arrived|cached|locked|alone) --> (\w+):/gm),
  ([, from, to]) => `${from === "[*]" ? "absent" : from} ${to}`,
).toSorted()

describe("a submission", () => {
  it.effect.prop(
    "moves as the architecture page draws it, and is answered exactly once",
    { known: integer(0, AGENTS.length), rounds },
    ({ known, rounds: all }) =>
      Effect.sync(() => {
        const life = live(known, all)
        assert.deepStrictEqual(life.cachedOnes, [])
        const submissions = all.reduce((count, { commands }) => count + commands.length, 0)
        assert.deepStrictEqual(
          Array.from(life.answers.values()),
          Array.from({ length: submissions }, () => 1),
        )
        const allowed = new Set(DRAWN)
        assert.deepStrictEqual(
          life.moves.filter((move) => !allowed.has(move)),
          [],
        )
      }),
    { arbitrary: { runs: propertyRuns(200), size: 20, maxShrinks: 500 } },
  )

  it("makes every move of the drawing", () => {
    const commands = kinds.flatMap((kind) => [
      { kind, name: "a" },
      { kind, name: "c" },
    ])
    const both = [...commands, ...commands]
    const base: Round = { commands: both, write: "well", isFresh: true, lock: "well", isOther: false }
    const lives = [
      [base],
      [{ ...base, isFresh: false, isOther: true }],
      [{ ...base, write: "badly", lock: "badly" }],
      [{ ...base, write: "closed", lock: "badly", isOther: true }],
      [{ ...base, lock: "closed" }],
    ].map((all) => live(2, all as ReadonlyArray<Round>))
    const closing = new Life([])
    closing.submit("seen", "a")
    closing.close()
    const moves = new Set([...lives, closing].flatMap((life) => life.moves))
    assert.deepStrictEqual(Array.from(moves).toSorted(), DRAWN)
  })
})
