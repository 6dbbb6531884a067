import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"

const watch = {
  name: "example.org",
  every: "1m",
  confirm: { bad: 2, good: 1 },
  http: { url: "https://example.org/" },
  is_of_policy: false,
  is_paused: false,
  paused_until: null,
  status: "ok",
  last: {
    at: "2026-03-01T08:30:12.000Z",
    status: "ok",
    output: "HTTP OK - 200 https://example.org/ in 0.092 s | time=0.092s size=1256B",
  },
  next_probe_at: "2026-03-01T08:31:12.000Z",
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
} as const

const parameters = { name: "example.org" }
const paused = { is_paused: true, paused_until: "2026-03-01T10:30:12.000Z" }

/** Examples of the operations on watches. */
export const watchExamples: Readonly<Record<string, OperationExamples>> = {
  listWatches: lastPage(watch),
  getWatch: { parameters, success: { probed: { summary: "A watch", value: watch } } },
  createWatch: {
    request: {
      usual: {
        summary: "A page",
        value: { name: "example.org", http: { url: "https://example.org/" } },
      },
      port: {
        summary: "A port, often, where the first failure counts",
        value: {
          name: "db",
          every: "15s",
          confirm: { bad: 1 },
          tcp: { host: "db.example.org", port: 5_432 },
        },
      },
    },
    success: {
      created: {
        summary: "The watch is created",
        value: { ...watch, status: null, last: null },
      },
    },
  },
  changeWatch: {
    parameters,
    request: {
      often: { summary: "Every 15 s", value: { every: "15s" } },
      paused: { summary: "Until it is resumed", value: { is_paused: true } },
    },
    success: { changed: { summary: "The watch as changed", value: { ...watch, every: "15s" } } },
  },
  pauseWatch: {
    parameters,
    request: {
      usual: { summary: "Two hours", value: { for: "2h" } },
      resumed: { summary: "End a pause", value: { for: "0s" } },
    },
    success: { paused: { summary: "The watch is paused", value: { ...watch, ...paused } } },
  },
  removeWatch: { parameters, ...counted("The watch is removed", 1) },
  tryWatch: {
    request: { usual: { summary: "A page", value: { http: { url: "https://example.org/" } } } },
    success: {
      ok: {
        summary: "The page is there",
        value: {
          status: "ok",
          output: watch.last.output,
          duration_ms: 92,
        },
      },
    },
  },
}
