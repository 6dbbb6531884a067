import { parentPort, workerData } from "node:worker_threads"

/** Does the work of a thread that this program has started. Each loads only what it needs. */
export const runThread = async (): Promise<void> => {
  const { work } = workerData
  if (work === "policy") reply(await (await import("../policy/policyReading.ts")).runPolicyThread(workerData))
  else if (work === "history") reply(await (await import("./historyThread.ts")).runHistoryThread(workerData))
  else (await import("@tocsin/simulation/backtestThread")).runTrialThread()
}

const reply = (message: unknown): void => parentPort?.postMessage(message)
