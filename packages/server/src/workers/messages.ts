import type { SentFamily } from "@tocsin/adapter-http/metrics/siblings"

/** What a worker tells the process that started it. */
export type FromWorker =
  | { readonly type: "listens"; readonly address: string }
  | { readonly type: "alive" }
  | { readonly type: "metrics"; readonly question: number; readonly families: ReadonlyArray<SentFamily> }
  /** Asks for the metrics of the others. */
  | { readonly type: "asks_metrics"; readonly question: number }

/** What a worker is told. */
export type ToWorker =
  | { readonly type: "asks_metrics"; readonly question: number }
  /** The metrics of the others that answered in time. */
  | {
      readonly type: "metrics"
      readonly question: number
      readonly ofOthers: ReadonlyArray<ReadonlyArray<SentFamily>>
    }
