import { spawn } from "node:child_process"
import process from "node:process"
import { Effect, type Scope } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

/** The Chromium of this machine, if it is installed. */
export const chromium = programPath("chromium")

/** The note of the tests that are skipped without it. */
export const skipped = skippedFor(lacking("chromium"))

/** Opens a page in a browser without a window, which ends with the scope. */
export const openPage = Effect.fnUntraced(function* (
  address: string,
): Effect.fn.Return<void, never, Scope.Scope> {
  const profile = yield* scratchFolder
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        chromium ?? "chromium",
        // A sandbox needs rights that containers and root do not have; the page is ours.
        ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, address],
        { stdio: "ignore", detached: true },
      ),
    ),
    (browser) =>
      Effect.callback<void>((resume) => {
        browser.on("close", () => resume(Effect.void))
        if (browser.exitCode !== null || browser.pid === undefined) return resume(Effect.void)
        // The whole group of it: its helpers would outlive it, and hold its profile.
        process.kill(-browser.pid, "SIGKILL")
      }),
  )
})
