import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { playRecordedStory, type RecordedCourse } from "./playRecordedStory.ts"
import { recordedStory } from "./RecordedStory.ts"

const STORIES = 200
const USUAL = 100
const FILE = join(import.meta.dirname, "recordedStories.txt")

const digestOf = (lines: ReadonlyArray<string>) =>
  createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16)

const wordsOf = (number: number, { messages, rows }: RecordedCourse) =>
  `${number}: ${rows.length} rows ${digestOf(rows)}, ${messages.length} messages ${digestOf(messages)}`

const played = (number: number) =>
  playRecordedStory(recordedStory(number)).pipe(Effect.provide(TestClock.layer()))

describe("without a policy, an acknowledgement and a silence", () => {
  // After a change that is meant, `PROPERTY_RUNS=2 vitest run test/delivery/recordedStories --update`
  // records all stories again.
  it.effect("every row and message of two hundred stories is as recorded", ({ onTestFailed }) =>
    Effect.gen(function* () {
      const recorded = readFileSync(FILE, "utf8").trimEnd().split("\n")
      const now = [...recorded]
      let different: string | undefined
      const apart = STORIES / Math.min(STORIES, propertyRuns(USUAL))
      for (let at = 0; at < STORIES; at += apart) {
        const number = Math.floor(at)
        const course = yield* played(number)
        now[number] = wordsOf(number, course)
        if (now[number] === recorded[number] || different !== undefined) continue
        const steps = recordedStory(number).map((step) => JSON.stringify(step))
        different = [...steps, ...course.rows, ...course.messages, ""].join("\n")
      }
      // Compare it with the same output of the commit before.
      onTestFailed(() => {
        process.stderr.write(different ?? "")
      })
      yield* Effect.promise(() => expect(`${now.join("\n")}\n`).toMatchFileSnapshot(FILE))
    }),
  )
})
