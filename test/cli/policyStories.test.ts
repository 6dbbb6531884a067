import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { simulate } from "@tocsin/simulation/simulate"
import { Effect, Record, Result } from "effect"
import { blocksOf, type CodeBlock, placeOf } from "../docs/CodeBlock.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { tocsin } from "./tocsin.ts"

/** Examples without a story: the simulation leaves freshness out, and pages notify no one. */
const UNTOLD = ["freshness:", "pages:"]
/** Its only key changes how many messages a chat gets, which the simulation leaves out. */
const WITHOUT_RULES = "storm"

const examples = blocksOf("docs/policy.md").filter(({ marks }) => marks.has("policy"))
const told = examples.filter(({ text }) => !UNTOLD.some((key) => text.startsWith(key)))
const titles = told.map((block) => [placeOf(block), block] as const)

const nameOf = ({ marks }: CodeBlock): string => marks.get("policy") ?? ""
const storyOf = (example: CodeBlock): string => resolve("docs/policy", `${nameOf(example)}.jsonl`)

const notifiers = ["webhook", "messenger"]

describe("the examples of docs/policy.md", () => {
  it("each have a story, and each story an example", () => {
    const stories = globSync("docs/policy/*.jsonl").map((file) => basename(file, ".jsonl"))
    assert.sameMembers(told.map(nameOf), stories)
    assert.isAbove(stories.length, 7)
  })

  it.live.each(titles)("pass their story: %s", ([, example]) =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      writeFileSync(join(cwd, "policy.yaml"), example.text)
      const others = notifiers.flatMap((kind) => ["--notifier", kind])
      const args = ["policy", "test", storyOf(example), "--policy", "policy.yaml", ...others]
      const { code, stderr, stdout } = yield* tocsin({ cwd, environment: {} }, ...args)
      assert.strictEqual(code, 0, `${stdout}${stderr}`)
    }),
  )

  it.each(titles.filter(([, example]) => nameOf(example) !== WITHOUT_RULES))(
    "fail it without their rules: %s",
    (_, example) => {
      const read = readPolicyText(example.text, { notifiers, keepsNotifiers: false })
      const { receivers: defined } = Result.getOrThrow(read)
      const receivers = defined && Record.map(defined, ({ quiet: _, ...receiver }) => receiver)
      const { expectations = [], refused } = simulate(
        readFileSync(storyOf(example), "utf8").split("\n"),
        receivers === undefined ? { notifiers, policy: {} } : { notifiers: [], policy: { receivers } },
      )
      assert.deepStrictEqual(refused, [])
      assert.isTrue(expectations.some(({ holds }) => !holds))
    },
  )
})
