import type { LostPart } from "@tocsin/adapter-notify/loadPart"
import { Schema } from "effect"

/** The file that an error of `import` names: `Cannot find module '/opt/tocsin/email.js' imported from …`. */
const fileIn = (cause: unknown): string => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return /'([^']+)'/.exec(message)?.[1] ?? message
}

/** A part of the program that is not there, or is one of another version. */
export class BrokenInstall extends Schema.TaggedError<BrokenInstall>()("BrokenInstall", {
  /** The part that cannot be loaded. */
  part: Schema.String,
  cause: Schema.Defect(),
}) {
  override get message(): string {
    return `${this.part} cannot be loaded (${fileIn(this.cause)}): install Tocsin again`
  }

  get lines(): ReadonlyArray<string> {
    return [this.message]
  }
}

/** The error of a part that this process needs. */
export const brokenInstall =
  (part: string) =>
  ({ cause }: LostPart) =>
    new BrokenInstall({ part, cause })
