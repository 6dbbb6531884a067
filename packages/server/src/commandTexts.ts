import { Completions } from "effect/cli"
import { settingsText } from "./settings/settingsText.ts"
import { tocsin } from "./tocsin.ts"

/** Help and completions of all commands. The bundle has the result in a file of its own. */
export const files = async () => {
  const whole = await tocsin(() => true, {})
  const commands = whole.subcommands.flatMap((group) => group.commands)
  return {
    lines: Object.fromEntries(
      commands.map(({ description = "", name, shortDescription = description }) => [name, shortDescription]),
    ),
    completions: Completions.fromCommand(whole),
    settings: settingsText(),
  }
}
