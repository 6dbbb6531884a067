import type { ChildProcess } from "node:child_process"

/** Ends a process by SIGTERM, and by SIGKILL after so long. Resolves when it has ended. */
export const stopChild = (child: ChildProcess, killAfterMillis: number): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    const killer = setTimeout(() => child.kill("SIGKILL"), killAfterMillis)
    child.once("exit", () => {
      clearTimeout(killer)
      resolve()
    })
    child.kill("SIGTERM")
  })
