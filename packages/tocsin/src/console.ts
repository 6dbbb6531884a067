import type { ConsoleFiles } from "@tocsin/adapter-http/pages/PageRoutes"

export type { ConsoleFiles }

/**
 * The files of the console, for the option `console` of `createMonitor`.
 *
 * @example
 * ```ts
 * import { createMonitor, sqlite } from "tocsin"
 * import { consoleFiles } from "tocsin/console"
 *
 * const monitor = await createMonitor({
 *   storage: sqlite("monitoring.db"),
 *   operatorTokens: [process.env.UI_TOKEN ?? ""],
 *   basePath: "/monitoring",
 *   console: await consoleFiles(),
 * })
 * ```
 */
export const consoleFiles = async (): Promise<ConsoleFiles> => {
  // The build writes the finished files beside the program, and puts their path here.
  const { files } = await import("@tocsin/console/files")
  return await files()
}
