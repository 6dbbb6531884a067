import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { FILES_AT_LENGTH, lineOfFilesLeftOut } from "../../scripts/filesAtLength.mjs"

const test = (title: string, status = "passed", ...ancestorTitles: ReadonlyArray<string>) => ({
  title,
  status,
  ancestorTitles,
})

/** The lines of a run's end, and its exit code, for the results of one file and the exit codes of its parts. */
const endOf = (
  assertionResults: ReadonlyArray<ReturnType<typeof test>>,
  { tests = 0, checks = 0, programs = 0 } = {},
) => {
  using folder = scratch()
  const failed = assertionResults.filter(({ status }) => status === "failed").length
  const report = {
    numPassedTests: assertionResults.filter(({ status }) => status === "passed").length,
    numFailedTests: failed,
    testResults: [
      {
        name: join(process.cwd(), "test/a/b.test.ts"),
        status: failed > 0 ? "failed" : "passed",
        assertionResults,
      },
    ],
  }
  folder.write("tests.json", JSON.stringify(report))
  folder.write("checks.log", "checks: 5 passed, 0 failed\n")
  const args = [folder.at("tests.json"), `${tests}`, folder.at("checks.log"), `${checks}`, `${programs}`]
  const { status, stdout } = spawnSync(process.execPath, ["scripts/countResults.mjs", ...args], {
    encoding: "utf8",
  })
  return [status, ...stdout.trim().split("\n")]
}

const scratch = () => {
  const path = mkdtempSync(join(tmpdir(), "tocsin-ci-"))
  const at = (name: string) => join(path, name)
  return {
    path,
    at,
    write: (name: string, text: string) => writeFileSync(at(name), text),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  }
}

const LEFT_OUT = lineOfFilesLeftOut().trim()

describe("the end of .ci/run", () => {
  it("names files that there are as those that are left to npm run test:long", () => {
    for (const glob of FILES_AT_LENGTH) assert.isAbove(globSync(glob).length, 0, glob)
  })

  it("counts the tests and the checks in its last line, below what was skipped and why", () => {
    const skipped = test("is drawn (skipped: chromium is missing: install chromium)", "skipped")
    const inSuite = test("one", "pending", "all (skipped: npm run test:long runs it)", "inner")
    const another = test("another", "skipped", "all (skipped: npm run test:long runs it)")
    assert.deepStrictEqual(endOf([test("works"), skipped, inSuite, another]), [
      0,
      "skipped: 2, npm run test:long runs it (test/a)",
      "skipped: 1, chromium is missing: install chromium (test/a)",
      LEFT_OUT,
      "6 passed, 0 failed",
    ])
  })

  it("fails for a test that failed, one that was skipped without a reason, and each part that ended badly", () => {
    assert.deepStrictEqual(endOf([test("works"), test("fails", "failed")], { tests: 1 }), [
      1,
      LEFT_OUT,
      "6 passed, 1 failed",
    ])
    assert.deepStrictEqual(endOf([test("works"), test("later", "skipped", "all")]), [
      1,
      "skipped without a reason in its name: test/a/b.test.ts > all > later",
      LEFT_OUT,
      "6 passed, 1 failed",
    ])
    for (const part of ["tests", "checks", "programs"])
      assert.deepStrictEqual(endOf([test("works")], { [part]: 1 }), [1, LEFT_OUT, "6 passed, 1 failed"])
  })
})

/** Installs on a machine whose PATH has only these scripts. */
const installWith = (scripts: Readonly<Record<string, string>>) => {
  using folder = scratch()
  for (const [name, text] of Object.entries(scripts)) {
    folder.write(name, `#!/bin/sh\n${text}\n`)
    chmodSync(folder.at(name), 0o755)
  }
  const { status, stdout } = spawnSync(process.execPath, ["scripts/installPrograms.mjs"], {
    encoding: "utf8",
    env: { PATH: folder.path },
  })
  return { status, stdout }
}

describe("the installation of what tests look for", () => {
  it("says what is skipped where there is no apt-get", () => {
    const { status, stdout } = installWith({})
    assert.match(stdout, /^programs: there is no apt-get here, so tests skip .*chromium/)
    assert.strictEqual(status, 0)
  })

  it("fails where apt-get fails three times, with its words; a user who is not root installs nothing", () => {
    const { status, stdout } = installWith({
      "apt-get": 'test "$1" = --version || { echo "no network"; exit 100; }',
    })
    if (process.getuid?.() === 0) {
      assert.strictEqual(stdout.match(/update: attempt \d of 3 ended with 100\.\nno network\n/g)?.length, 3)
      assert.strictEqual(status, 1)
    } else {
      assert.match(stdout, /^programs: only root may install, so tests skip .*chromium/)
      assert.strictEqual(status, 0)
    }
  })
})
