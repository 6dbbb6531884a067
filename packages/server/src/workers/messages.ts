import type { SentFamily, Together } from "@tocsin/adapter-http/metrics/siblings"

/** What a worker tells the process that started it. */
export type FromWorker =
  | { readonly type: "listens"; readonly address: string }
  | { readonly type: "alive" }
  /** Why it is about to end. */
  | { readonly type: "problem"; readonly message: string }
  /** What it has counted, without a question. */
  | { readonly type: "counts"; readonly families: ReadonlyArray<SentFamily> }
  | { readonly type: "metrics"; readonly question: number; readonly families: ReadonlyArray<SentFamily> }
  /** Asks for the metrics of all, with its own. */
  | {
      readonly type: "asks_metrics"
      readonly question: number
      readonly families: ReadonlyArray<SentFamily>
    }

/** What a worker is told. */
export type ToWorker =
  | { readonly type: "asks_metrics"; readonly question: number }
  | ({ readonly type: "metrics"; readonly question: number } & Together)
