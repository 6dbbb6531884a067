import { parentPort, workerData } from "node:worker_threads"

/** Does the work of a thread that this program has started. Each loads only what it needs. */
export const runThread = async (): Promise<void> => {
  const { work } = workerData
  if (work === "mail") return (await import("@tocsin/adapter-mail/mailThread")).runMailThread()
  const reply =
    work === "policy"
      ? (await import("../policy/policyReading.ts")).runPolicyThread(workerData)
      : (await import("../features/trial/historyThread.ts")).runHistoryThread(workerData)
  parentPort?.postMessage(await reply)
}
