import { relative } from "node:path"
import process from "node:process"
import type { Reporter, TestModule, TestSpecification } from "vitest/node"
import { skippedLines, whySkipped } from "../scripts/skippedTests.mjs"
import { filesLeftOut, lineOfFilesLeftOut } from "../scripts/filesAtLength.mjs"

const EVERY_MILLIS = 15_000
/** A file that runs for longer is named, as it may hang. */
const SLOW_MILLIS = 90_000

const namesOf = (test: TestCase): ReadonlyArray<string> => {
  const names = [test.name]
  for (let above = test.parent; above.type === "suite"; above = above.parent) names.unshift(above.name)
  return names
}

type TestCase = ReturnType<TestModule["children"]["allTests"]> extends Iterable<infer One> ? One : never

/** Says how far a run is, on a terminal and elsewhere, and in the end what was skipped and why. */
export default class Progress implements Reporter {
  #files = 0
  #ended = 0
  #failed = 0
  #begun = 0
  #timer: NodeJS.Timeout | undefined
  readonly #running = new Map<string, number>()

  onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#begun = performance.now()
    this.#files = specifications.length
    this.#ended = this.#failed = 0
    this.#timer = setInterval(() => this.#say(), EVERY_MILLIS)
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.set(module.moduleId, performance.now())
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.moduleId)
    this.#ended += 1
    const failed = Array.from(module.children.allTests("failed")).length
    this.#failed += failed === 0 && module.state() === "failed" ? 1 : failed
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    clearInterval(this.#timer)
    this.#say()
    const skipped = modules.flatMap((module) =>
      Array.from(module.children.allTests("skipped"), (test) => ({
        file: relative(process.cwd(), module.moduleId),
        names: namesOf(test),
      })),
    )
    // `-t` skips others without a reason.
    for (const line of skippedLines(whySkipped(skipped).reasons)) process.stdout.write(`${line}\n`)
    if (filesLeftOut().length > 0) process.stdout.write(lineOfFilesLeftOut())
  }

  #say(): void {
    const seconds = Math.round((performance.now() - this.#begun) / 1_000)
    const slow = Array.from(this.#running).filter(([, since]) => performance.now() - since > SLOW_MILLIS)
    const names = slow.map(([path]) => relative(process.cwd(), path)).join(", ")
    process.stdout.write(
      `${this.#ended} of ${this.#files} files, ${this.#failed} failed, ${seconds} s${names && `; still: ${names}`}\n`,
    )
  }
}
