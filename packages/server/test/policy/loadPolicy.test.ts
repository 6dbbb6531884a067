import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { loadPolicy } from "@tocsin/server/policy/loadPolicy"
import { ProgramModule } from "../../src/threads/askThread.ts"
import { Effect } from "effect"
import { readSettings } from "../../src/settings/checkedSettings.ts"
import type { Settings } from "../../src/settings/Settings.ts"

/** A thread that takes every text for the same policy. */
const THREAD =
  'import { parentPort } from "node:worker_threads"; parentPort.postMessage({ document: { routes: [{ after: "7m" }] }, issues: [] })'

it.live("a long policy file is read on a thread, and a short one where it is loaded", () =>
  Effect.gen(function* () {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
    const file = join(folder, "policy.yaml")
    // All settings of this environment are valid.
    const settings = readSettings({ SERVICE_POLICY_FILE: file }).values as Settings
    const routesOf = (text: string) => {
      writeFileSync(file, text)
      return Effect.map(loadPolicy(settings), ({ document }) => document.routes?.length)
    }
    assert.strictEqual(yield* routesOf("routes: []"), 0)
    assert.strictEqual(yield* routesOf(`# ${"x".repeat(5_000)}\nroutes: []`), 1)
  }).pipe(
    Effect.provideService(ProgramModule, `data:text/javascript,${encodeURIComponent(THREAD)}`),
    Effect.provide(RandomIds.layer),
    Effect.scoped,
  ),
)
