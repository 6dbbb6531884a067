import { runTrialThread } from "@tocsin/simulation/backtestThread"
import { isHistoryThread, runHistoryThread } from "./policy/historyThread.ts"

/** Does the work of a thread that this program has started. */
export const runThread = async (): Promise<void> =>
  isHistoryThread() ? await runHistoryThread() : runTrialThread()
