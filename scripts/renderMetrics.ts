// Writes docs/metrics.md from the definitions that the code follows: `node
// scripts/renderMetrics.ts`.
import { writeFileSync } from "node:fs"
import { metricsPage } from "../test/observability/metricsPage.ts"

writeFileSync(new URL("../docs/metrics.md", import.meta.url), metricsPage())
