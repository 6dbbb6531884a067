import type { LoadResult, LoadRun } from "./LoadRun.ts"

/** A request to the load generator's process: to be these agents from now on, all well; or to send. */
export type LoadCommand =
  | { readonly type: "agents"; readonly keys: ReadonlyArray<string> }
  | { readonly type: "run"; readonly run: LoadRun }

/** The answer: the result of a run. */
export type LoadReply = LoadResult | undefined
