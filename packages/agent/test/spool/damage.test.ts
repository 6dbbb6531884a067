import { assert, it } from "@effect/vitest"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Spool } from "../../src/spool/Spool.ts"
import { SpoolFile } from "../../src/spool/SpoolFile.ts"

const DAY = 86_400_000
const AGE_DAYS = 3
const [CORRUPT, FULL] = [11, 13]

const failing = (errcode: number): Error => Object.assign(new Error("the disk fails"), { errcode })

/** A spool whose file is found damaged at one call, once. */
class DamagedSpool {
  readonly #folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tocsin-damaged-"))
  readonly #at: number
  #isFull = false
  #calls = 0
  #open = 0
  #now = Date.UTC(2026, 0, 1)
  /** How many days the agent has run. */
  #ran = 0
  /** The results that were recorded since the damage and wait, with the day of each. */
  readonly #fresh = new Map<string, number>()
  readonly #spool: Spool

  constructor(at: number) {
    this.#at = at
    this.#spool = Spool.open({
      path: join(this.#folder, "spool.db"),
      bounds: { bytes: 1_000_000, ageDays: AGE_DAYS, inMemory: 1_000 },
      now: () => this.#now,
      warn: () => {},
      openFile: (path) => this.#openFile(path),
    })
  }

  get isDamaged(): boolean {
    return this.#calls >= this.#at
  }

  #openFile(path: string): SpoolFile {
    const file = SpoolFile.open(path)
    this.#open += 1
    return new Proxy(file, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== "function") return value
        return (...given: ReadonlyArray<unknown>): unknown => {
          if (name === "close") this.#open -= 1
          else if (++this.#calls === this.#at) throw failing(CORRUPT)
          if (name === "write" && this.#isFull) throw failing(FULL)
          return Reflect.apply(value, target, given)
        }
      },
    })
  }

  record(checkId: string, status: CheckStatus): void {
    const wasDamaged = this.isDamaged
    this.#spool.record({
      checkId,
      status,
      exitCode: 0,
      durationMillis: 1,
      output: "",
      notificationsEnabled: true,
    })
    // It waits in memory while the disk is full, and so outlives the damage that the flush finds.
    if (wasDamaged || !this.#isFull) this.#spool.flush()
    if (wasDamaged) this.#fresh.set(checkId, this.#ran)
    this.#now += 1_000
  }

  /** The server takes the oldest results. */
  sends(count: number): void {
    const taken = this.#spool.take(count, Infinity)
    this.#spool.acknowledge(taken)
    for (const { checkId } of taken) this.#fresh.delete(checkId)
  }

  runs(days: number): void {
    for (let half = 0; half < 2 * days; half++) this.#spool.dropAged(DAY / 2)
    this.#ran += days
  }

  fills(isFull: boolean): void {
    this.#isFull = isFull
  }

  /** Results that came after the damage wait, and the spool lists exactly these. */
  verify(): void {
    const wasDamaged = this.isDamaged
    const waiting = this.#spool.take(100, Infinity).map(({ checkId }) => checkId)
    const said = [this.#spool.size(), this.#spool.hasChange(), this.#spool.oldestAt() !== undefined]
    // Between two answers, there is another file.
    if (this.isDamaged !== wasDamaged) return this.verify()
    for (const [checkId, day] of this.#fresh)
      if (this.#ran - day < AGE_DAYS) assert.include(waiting, checkId, `call ${this.#at}`)
    assert.deepStrictEqual(said, [waiting.length, waiting.length > 0, waiting.length > 0], `call ${this.#at}`)
  }

  end(): void {
    this.#spool.flush()
    assert.strictEqual(Number(this.#spool.notes().get("damaged") ?? 0), 1, `call ${this.#at}`)
    this.#spool.close()
    assert.strictEqual(this.#open, 0, `call ${this.#at}: what was opened is closed`)
    this.remove()
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

/** Every kind of work with the file: results are stored, taken while the disk is full, and grow old. */
const live = (spool: DamagedSpool): void => {
  for (const check of ["a", "b", "c", "d"]) spool.record(check, "critical")
  spool.runs(1)
  spool.fills(true)
  spool.sends(2)
  spool.record("e", "warning")
  spool.verify()
  spool.fills(false)
  spool.record("f", "critical")
  spool.runs(AGE_DAYS)
  spool.sends(1)
}

it("a spool that is found damaged, at whichever call, starts over with nothing of its former file", () => {
  let at = 1
  for (; ; at++) {
    const spool = new DamagedSpool(at)
    live(spool)
    if (!spool.isDamaged) {
      spool.remove()
      break
    }
    spool.record("x", "critical")
    spool.runs(1)
    spool.record("y", "ok")
    spool.runs(AGE_DAYS - 1)
    spool.verify()
    spool.end()
  }
  assert.isAbove(at, 30)
})
