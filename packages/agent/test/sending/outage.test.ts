import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KeyFile } from "../../src/key/KeyFile.ts"
import { Sender } from "@tocsin/reporting/agent/Sender"
import type { TimeMark } from "@tocsin/reporting/agent/ServerTime"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { Spool, type SpooledResult } from "../../src/spool/Spool.ts"
import { SpoolFile } from "../../src/spool/SpoolFile.ts"
import { type Fault, FaultyServer } from "@tocsin/testing/agents/FaultyServer"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 1_440 * MINUTE
const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]
const CHECKS = ["disk", "load", "web", "poisoned"]
const FAULTS: ReadonlyArray<Fault> = ["none", "500", "429", "nothing", "half", "lost", "killed", "gateway"]
const SQLITE_FULL = 13
const POISON_CODE = 9

/** The host's troubles, and how long they last. */
const deed = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("result" as const),
      check: fc.nat(3),
      status: fc.nat(3),
      poison: fc.boolean(),
      minutes: fc.nat(20),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("fault" as const),
      fault: fc.nat(FAULTS.length - 1),
      minutes: fc.nat(60),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("kill" as const), torn: fc.boolean(), minutes: fc.nat(5) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("clock" as const),
      by: fc.integer({ min: -400 * DAY, max: 400 * DAY }),
      minutes: fc.nat(5),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suspend" as const), minutes: fc.nat(600) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("disk" as const), isFull: fc.boolean(), minutes: fc.nat(30) }),
  },
)
type Deed = typeof deed extends fc.Arbitrary<infer D> ? D : never

interface Recorded {
  readonly id: string
  readonly text: string
  readonly isPoison: boolean
  counts: boolean
}

/** In memory where there is such a folder: a scenario waits for the disk thousands of times. */
const FAST_FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

/** An agent on a host of its own, with a server that fails as it is told. */
class Host {
  readonly server = new FaultyServer()
  readonly #root = mkdtempSync(join(FAST_FOLDER, "tocsin-agent-"))
  #folder = ""
  #lives = 0
  #wall = Date.UTC(2026, 0, 1)
  #steady = 0
  #lookedAt = 0
  #boot = 5 * MINUTE
  #isFull = false
  readonly #recorded = new Map<string, Array<Recorded>>(CHECKS.map((id) => [id, []]))
  #spool: Spool
  #sender: Sender<SpooledResult>
  readonly #clock = { wall: () => this.#wall, steady: () => this.#steady, sinceBoot: () => this.#boot }
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
    const trueTime = Date.UTC(2026, 0, 1) - this.#boot
    this.server.now = () => trueTime + this.#boot
    ;[this.#spool, this.#sender] = this.#begin()
  }

  /**
   * Results from before the first answer are dated by the host's clock, which is off by `off`. After
   * it, the host knows the server's time; a full disk would not remember it.
   */
  async begin(off: number): Promise<void> {
    this.#wall += off
    for (const status of STATUSES) this.#record("disk", status, false)
    this.server.isAccepted = false
    await this.#until(MINUTE)
    this.#look()
    this.server.isAccepted = true
    await this.#until(5 * MINUTE)
  }

  async live(act: Deed): Promise<void> {
    if (act.kind === "result")
      this.#record(CHECKS[act.check] ?? "disk", STATUSES[act.status] ?? "ok", act.poison)
    else if (act.kind === "fault") this.server.fault = FAULTS[act.fault] ?? "none"
    else if (act.kind === "kill") this.#kill(act.torn)
    else if (act.kind === "clock") this.#wall += act.by
    else if (act.kind === "disk") this.#isFull = act.isFull
    else this.#pass({ wall: act.minutes * MINUTE, steady: 0 })
    await this.#until(this.#steady + (act.kind === "suspend" ? 0 : act.minutes) * MINUTE)
    this.#look()
  }

  /** As the agent's own check does. */
  #look(): void {
    this.#spool.dropAged(this.#steady - this.#lookedAt)
    this.#lookedAt = this.#steady
  }

  /** Everything is well again: whatever counts must arrive. */
  async recover(): Promise<void> {
    this.server.fault = "none"
    this.#isFull = false
    await this.#until(this.#steady + 60 * MINUTE)
  }

  verify(): void {
    assert.strictEqual(this.#spool.extent().results, 0, "the spool is empty in the end")
    assert.deepStrictEqual(this.server.late, [], "nothing overtook anything")
    for (const [check, all] of this.#recorded) {
      const counted = all.filter(
        ({ id, counts, isPoison }) => (counts && !isPoison) || this.server.known.has(id),
      )
      const changes = counted
        .filter(({ text }, index) => counted[index - 1]?.text !== text)
        .map(({ text }) => text)
      assert.deepStrictEqual(this.server.changes.get(check) ?? [], changes, check)
    }
  }

  remove(): void {
    this.#spool.close()
    rmSync(this.#root, { recursive: true })
  }

  #begin(): [Spool, Sender<SpooledResult>] {
    const now = (): number => made.sender?.now() ?? this.#wall
    const made: { sender?: Sender<SpooledResult> } = {}
    const folder = join(this.#root, String(this.#lives++))
    if (this.#folder === "") mkdirSync(folder)
    // A power cut leaves the files as they are, without an orderly end.
    else cpSync(this.#folder, folder, { recursive: true })
    this.#folder = folder
    const spool = Spool.open({
      path: join(folder, "spool.db"),
      now,
      warn: () => {},
      openFile: this.#openFile,
    })
    const keys = new KeyFile(folder)
    const statements = {
      agentId: "host",
      servers: ["http://one", "http://two"],
      heartbeat: { hostname: "host", features: { push: true, metrics: false } },
      expected: undefined,
    }
    const options = {
      queue: spool,
      keys,
      boot: "one",
      transport: this.server,
      clock: this.#clock,
      random: this.#random,
      log: () => {},
    }
    const saved = spool.notes().get("time_mark")
    const mark = saved === undefined ? undefined : (JSON.parse(saved) as TimeMark)
    made.sender = new Sender({ ...options, mark }, statements)
    return [spool, made.sender]
  }

  readonly #openFile = (path: string): SpoolFile => {
    const file = SpoolFile.open(path)
    const write = file.write.bind(file)
    file.write = (change) => {
      if (this.#isFull) throw Object.assign(new Error("the disk is full"), { errcode: SQLITE_FULL })
      write(change)
    }
    return file
  }

  #record(check: string, status: CheckStatus, poison: boolean): void {
    const isPoison = poison && check === "poisoned"
    // Of equal results only the first and the last are kept: a refused one must not stand for others.
    const exitCode = isPoison ? POISON_CODE : STATUSES.indexOf(status)
    const id = this.#spool.record({
      checkId: check,
      status,
      exitCode,
      durationMillis: 1,
      output: isPoison ? "poison" : status,
      notificationsEnabled: true,
    })
    this.#recorded.get(check)?.push({ id, text: `${status} ${exitCode}`, isPoison, counts: false })
    this.#flush()
  }

  #flush(): void {
    if (!this.#spool.flush()) return
    for (const all of this.#recorded.values()) for (const one of all) one.counts = true
  }

  /** Like kill -9: no line of the agent runs after it. */
  #kill(torn: boolean): void {
    // Results that were only in memory never counted.
    for (const [check, all] of this.#recorded) {
      this.#recorded.set(
        check,
        all.filter(({ id, counts }) => counts || this.server.known.has(id)),
      )
    }
    const before = this.#spool
    const log = join(this.#folder, "spool.db-wal")
    ;[this.#spool, this.#sender] = this.#restart(log, torn)
    // The former life writes only to its own folder, which nobody reads again.
    before.close()
  }

  #restart(log: string, torn: boolean): [Spool, Sender<SpooledResult>] {
    // A write that was under way: pages without a commit, cut at any byte.
    if (torn && existsSync(log)) appendFileSync(log, Buffer.alloc(Math.floor(this.#random() * 9_000), 0x5a))
    return this.#begin()
  }

  #pass({ wall, steady }: { readonly wall: number; readonly steady: number }): void {
    this.#wall += wall
    this.#boot += wall
    this.#steady += steady
  }

  async #until(end: number): Promise<void> {
    while (this.#steady < end) {
      const next = await this.#sender.step()
      if (this.server.hasKilled) {
        this.server.hasKilled = false
        this.server.fault = "none"
        this.#kill(false)
      }
      const to = Math.min(end, Math.max(next, this.#steady + 20))
      this.#pass({ wall: to - this.#steady, steady: to - this.#steady })
      this.#flush()
    }
  }
}

/** A generator of numbers from 0 to 1 that a seed repeats (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

describe("an outage", () => {
  it("of days, with kills, torn files, a full disk and clock steps, loses and repeats no change", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        // Dates ahead only grow by milliseconds, and a kill on a full disk forgets by how many.
        fc.integer({ min: -400 * DAY, max: 0 }),
        fc.array(deed, { minLength: 50, maxLength: 250 }),
        async (seed, off, deeds) => {
          const host = new Host(randomOf(seed))
          try {
            await host.begin(off)
            for (const act of deeds) await host.live(act)
            await host.recover()
            host.verify()
          } finally {
            host.remove()
          }
        },
      ),
      // Smaller scenarios would be looked for longer than CI may take.
      { numRuns: propertyRuns(4), endOnFailure: true },
    )
  })
})
