import type { OperationExamples } from "./OperationExamples.ts"

/** Examples of the operations on watches. */
export const watchExamples: Readonly<Record<string, OperationExamples>> = {
  tryWatch: {
    request: { usual: { summary: "A page", value: { http: { url: "https://example.org/" } } } },
    success: {
      ok: {
        summary: "The page is there",
        value: {
          status: "ok",
          output: "HTTP OK - 200 https://example.org/ in 0.092 s | time=0.092s size=1256B",
          duration_ms: 92,
        },
      },
    },
  },
}
