import process from "node:process"
import type { TestProject } from "vitest/node"
import { startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** An account that may create databases. */
    readonly postgresUrl: string
  }
}

/**
 * One PostgreSQL for the whole run: that of TEST_DATABASE_URL, or a temporary one. Each test gets a
 * new database of it through `ScratchPostgres`.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env["TEST_DATABASE_URL"]
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given)
    return undefined
  }
  const { stop, url } = await startPostgres()
  project.provide("postgresUrl", url)
  return stop
}
