import { Effect, Layer } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"
import { EXIT_CODES } from "../exitCodes.ts"
import { fileVariableOf } from "../settings/readSettings.ts"
import { definitions } from "../settings/Settings.ts"
import type { Setting } from "../settings/settingTypes.ts"
import { Output } from "./Output.ts"
import { withoutSecrets } from "./texts.ts"

const describe = (name: string, setting: Setting<unknown>): string =>
  [
    `  ${name}`,
    `      ${setting.meaning}`,
    `      takes ${setting.takes}`,
    `      default: ${"fallback" in setting ? setting.fallback : setting.whenUnset}`,
    ...(setting.isSecret ? [`      or ${fileVariableOf(name)}: the path of a file that holds it`] : []),
  ].join("\n")

/**
 * Each setting with its meaning, what it takes and its default, from the table that the server
 * reads.
 */
export const settingsText = (): string =>
  Object.entries<Setting<unknown>>(definitions)
    .map(([name, setting]) => describe(name, setting))
    .join("\n")

const exitCodesText = (): string =>
  Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`)
    .join("\n")

/** The help of a command. That of `tocsin` and of `serve` also lists all settings. */
const helpText = (
  doc: HelpDoc.HelpDoc,
  path: ReadonlyArray<string>,
  formatter: CliOutput.Formatter,
): string => {
  const hasSettings = path.length === 1 || path[1] === "serve"
  return [
    formatter.formatHelpDoc(doc),
    "",
    ...(path.length === 1 ? ["EXIT CODES", exitCodesText()] : [`Run '${path[0]} --help' for exit codes`]),
    ...(hasSettings ? ["", "SETTINGS (environment variables)", settingsText()] : []),
    "",
  ].join("\n")
}

/**
 * The text that Effect's command line puts before the message of a Schema, which states the
 * expected value.
 */
const SCHEMA_PREFIX = "Expected: Schema validation failed: "

/**
 * Writes help to standard output, and mistakes to standard error with the command that explains
 * them.
 */
export const presenterLayer = Layer.effect(
  CliOutput.Presenter,
  Effect.gen(function* () {
    const output = yield* Output
    const formatter = CliOutput.defaultFormatter({ colors: output.hasColour, globalFlags: "none" })
    // A reader may stop early.
    const print = (text: string) => Effect.ignore(output.write(text))
    return CliOutput.Presenter.of({
      present: (event) => {
        switch (event._tag) {
          case "Version":
            return print(`${event.version}\n`)
          case "Help":
            return event.reason === "Requested"
              ? print(helpText(event.helpDoc, event.commandPath, formatter))
              : output.note(`${formatter.formatHelpDoc(event.helpDoc)}\n`)
          case "InvalidInvocation": {
            const messages = event.errors.map(
              (error) => `tocsin: ${formatter.formatCliError(error).replace(SCHEMA_PREFIX, "")}\n`,
            )
            return output.note(
              withoutSecrets(`${messages.join("")}See ${event.commandPath.join(" ")} --help\n`),
            )
          }
        }
      },
    })
  }),
)
