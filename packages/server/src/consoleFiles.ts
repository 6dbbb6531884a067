import type { ConsoleFiles } from "@tocsin/adapter-http/pages/ConsoleRoutes"
import { Effect } from "effect"
import type { Settings } from "./settings/Settings.ts"

/** The console's files, unless it is off. A server starts without them, too. */
export const consoleFiles = ({ SERVICE_CONSOLE }: Settings): Effect.Effect<ConsoleFiles | undefined> =>
  SERVICE_CONSOLE === "off"
    ? Effect.succeed(undefined)
    : Effect.tryPromise(async () => {
        // On demand: without the bundle of the server, this bundles the console.
        const { files } = await import("@tocsin/console/files")
        return await files()
      }).pipe(
        Effect.catch((cause) =>
          Effect.as(
            Effect.logWarning("the console could not be loaded; browsers get a page without it", cause),
            undefined,
          ),
        ),
      )
