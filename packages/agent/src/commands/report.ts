import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { readOptions, UsageError } from "./options.ts"
import { requireCheckId, spoolReport } from "./spoolReport.ts"

const CODES: ReadonlyMap<string, { readonly status: CheckStatus; readonly exitCode: number }> = new Map([
  ["ok", { status: "ok", exitCode: 0 }],
  ["warning", { status: "warning", exitCode: 1 }],
  ["critical", { status: "critical", exitCode: 2 }],
  ["unknown", { status: "unknown", exitCode: 3 }],
])

/** `tocsin-agent report CHECK STATUS [TEXT]`: keeps a result for the server. */
export const report = (argv: ReadonlyArray<string>): number => {
  const { args, ...options } = readOptions(argv)
  const [id, status, ...words] = args
  const checkId = requireCheckId(id)
  const code = CODES.get(status ?? "")
  if (code === undefined) throw new UsageError(`the status must be one of ${[...CODES.keys()].join(", ")}`)
  spoolReport(options, { checkId, ...code, durationMillis: 0, output: words.join(" ") })
  return 0
}
