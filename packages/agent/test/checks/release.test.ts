import { tmpdir } from "node:os"
import { releases } from "@tocsin/test/release/releases"
import { it } from "vitest"
import { runCommand, type StartedRun } from "../../src/checks/runCommand.ts"
import { runProbe } from "../../src/checks/startCheck.ts"
import { systemClock } from "../../src/clock/Clock.ts"
import type { ProbeConfig } from "../../src/probes/Probe.ts"

const over = async ({ gone, outcome }: StartedRun): Promise<void> => {
  await outcome
  await gone
}

const sh = (script: string, timeoutMillis = 60_000) =>
  over(
    runCommand(
      { argv: ["/bin/sh", "-c", script], env: { PATH: "/usr/bin:/bin" }, cwd: tmpdir(), timeoutMillis },
      systemClock,
    ),
  )

const probe = (run: ProbeConfig["run"], timeoutMillis = 60_000) =>
  over(runProbe({ name: "load", lane: "host", settings: {}, run }, { timeoutMillis, clock: systemClock }))

it("the run of a check leaves no timer, stream or process, however it ends", () =>
  releases(async () => ({
    open: async () => ({
      uses: {
        "a command": () => sh("echo well"),
        "a command that cannot be started": () => sh("exec /no/such"),
        // Longer than the law waits.
        "a command whose output a process in the background holds": () => sh("sleep 20 & echo begun"),
        "a command that took too long": () => sh("sleep 20", 100),
        "a probe": () => probe(async () => ({ words: "well", measures: [] })),
        "a probe that fails": () => probe(async () => Promise.reject(new Error("no such host"))),
        "a probe that took too long": () =>
          probe(
            async ({ signal }) =>
              await new Promise((_, reject) =>
                signal.addEventListener("abort", () => reject(new Error("late"))),
              ),
            100,
          ),
      },
      close: async () => {},
    }),
  })))
