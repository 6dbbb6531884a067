import { Effect, Schema } from "effect"

/** A part of the program that cannot be loaded: an upgrade has replaced the files of one that runs. */
export class LostPart extends Schema.TaggedError<LostPart>()("LostPart", { cause: Schema.Defect() }) {
  override get message(): string {
    return "needs a part of this program that cannot be loaded, as after an upgrade: restart the program"
  }
}

/** Loads what only some receivers need: without it, these alone are unavailable. */
export const loadPart = <Part>(load: () => Promise<Part>): Effect.Effect<Part, LostPart> =>
  Effect.tryPromise({ try: load, catch: (cause) => new LostPart({ cause }) })
