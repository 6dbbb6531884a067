import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import { scratchFolder } from "../../../../test/processes/scratch.ts"
import { zoneFinding } from "../../src/commands/doctor/examineZones.ts"
import { compareZones } from "../../src/zones/hostZones.ts"

const NOW = Date.parse("2026-11-28T12:00:00Z")
const HOUR = 3_600

/** A file as zic writes it (RFC 9636): offsets in seconds from times on, the first of them from the beginning. */
const zoneFile = (changes: ReadonlyArray<readonly [at: number, offset: number]>, footer: string): Buffer => {
  const header = (version: number, times: number, types: number) => {
    const bytes = Buffer.alloc(44)
    bytes.write("TZif")
    bytes[4] = version
    for (const [n, count] of [0, 0, 0, times, types, 4].entries()) bytes.writeUInt32BE(count, 20 + n * 4)
    return bytes
  }
  const later = changes.slice(1)
  const times = Buffer.alloc(later.length * 9)
  for (const [n, [at]] of later.entries()) {
    times.writeBigInt64BE(BigInt(at), n * 8)
    times[later.length * 8 + n] = n + 1
  }
  const types = Buffer.alloc(changes.length * 6)
  for (const [n, [, offset]] of changes.entries()) types.writeInt32BE(offset, n * 6)
  const letters = Buffer.from("ABC\0")
  const first = Buffer.concat([header(0x32, 0, 1), Buffer.alloc(6), letters])
  return Buffer.concat([
    first,
    header(0x32, later.length, changes.length),
    times,
    types,
    letters,
    Buffer.from(footer),
  ])
}

const HOST = "/usr/share/zoneinfo"

const comparing = <A>(files: Readonly<Record<string, Buffer | string>>, use: () => A) =>
  Effect.gen(function* () {
    const folder = yield* scratchFolder
    for (const [name, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), bytes)
    }
    const before = process.env["TZDIR"]
    process.env["TZDIR"] = folder
    try {
      return use()
    } finally {
      if (before === undefined) delete process.env["TZDIR"]
      else process.env["TZDIR"] = before
    }
  })

const seconds = (text: string): number => Date.parse(text) / 1_000

const OURS = process.versions["tz"] ?? ""

describe("the time zones of the machine", () => {
  it.effect("that differ in use are named, with what to do", () =>
    Effect.gen(function* () {
      const found = yield* comparing(
        {
          "tzdata.zi": "# version 2099f\n",
          // Has no summer from now on, as Winnipeg by 2026f.
          "America/New_York": zoneFile(
            [
              [0, -5 * HOUR],
              [seconds("2026-03-08T07:00Z"), -4 * HOUR],
            ],
            "\n<-04>4\n",
          ),
          "Europe/Paris": zoneFile(
            [
              [0, HOUR],
              [seconds("2027-02-01T00:00Z"), 2 * HOUR],
            ],
            "\n<+02>-2\n",
          ),
          "Asia/Tokyo": zoneFile([[0, 9 * HOUR]], "\nJST-9\n"),
          // Rules follow: nothing is known of what is to come.
          "Europe/London": zoneFile([[0, HOUR]], "\nGMT0BST,M3.5.0/1,M10.5.0\n"),
          "Asia/Kathmandu": "no such file",
        },
        () =>
          compareZones(
            [
              "US/Eastern",
              "Europe/Paris",
              "Asia/Tokyo",
              "Europe/London",
              "Asia/Kathmandu",
              "Europe/Rome",
              "Nowhere",
            ],
            NOW,
          ),
      )
      assert.deepStrictEqual(found, {
        version: OURS,
        hostVersion: "2099f",
        differing: [
          { name: "America/New_York", from: NOW, minutes: -60 },
          { name: "Europe/Paris", from: Date.parse("2027-02-01T00:00Z"), minutes: -60 },
        ],
      })
      const { level, message } = zoneFinding(found, Instant.fromMillis(NOW))
      assert.deepStrictEqual(
        [level, message],
        [
          "attention",
          `${OURS} of Node.js ${process.versions.node} differ from 2099f of this machine: America/New_York is 60 min behind from 2026-11-28 on, Europe/Paris is 60 min behind from 2027-02-01 on; upgrade Node.js, or set ICU_TIMEZONE_FILES_DIR to a folder with newer files of ICU`,
        ],
      )
    }),
  )

  it.each([
    [
      { hostVersion: "2025b", version: "2026e", differing: [{ name: "Asia/Tokyo", from: NOW, minutes: 60 }] },
      "attention",
      "upgrade tzdata on this machine",
    ],
    [{ hostVersion: "2026f", version: "2026e", differing: [] }, "ok", "equal to 2026f of this machine"],
    [{ hostVersion: undefined, version: "2026e", differing: [] }, "ok", "2026e of Node.js"],
    [
      { hostVersion: undefined, version: "2024b", differing: [] },
      "attention",
      "are 2 years old: upgrade Node.js",
    ],
  ])("are judged by version and age: %j", (found, level, part) => {
    const finding = zoneFinding(found, Instant.fromMillis(NOW))
    assert.strictEqual(finding.level, level)
    assert.include(finding.message, part)
  })

  it("of this machine are read as Node.js reads its own, in a year that no version changed", ({ skip }) => {
    skip(!existsSync(HOST), `no ${HOST}`)
    const names = Intl.supportedValuesOf("timeZone")
    const { differing } = compareZones(names, Date.parse("2019-01-01T00:00:00Z"))
    assert.deepStrictEqual(
      differing.map(({ name }) => name),
      [],
    )
  })
})
