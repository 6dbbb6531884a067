import { ValidationError } from "@tocsin/contract/formats/Errors"
import { idOfTitle } from "@tocsin/contract/titles/idOfTitle"
import { Effect } from "effect"

/** A name, or the title of which one is made. */
interface Naming {
  readonly name: string | undefined
  readonly title: string | undefined
  /** Where nothing of the title is left. */
  readonly otherwise: string
  /** A name that none is made of. */
  readonly reserved?: string
}

/**
 * Makes something by its name, or by the first that its title makes and that is free (docs/rules.md#titles).
 * Of requests at once, each finds the names of those before it in use.
 */
export const named = Effect.fnUntraced(function* <A, E, R>(
  { name, otherwise, reserved, title }: Naming,
  make: (name: string) => Effect.Effect<A | "name_in_use", E, R>,
): Effect.fn.Return<A | "name_in_use", E | ValidationError, R> {
  if (name !== undefined) return yield* make(name)
  if (title === undefined) return yield* new ValidationError({ message: "give a name, a title, or both" })
  for (let number = 1; ; number++) {
    const chosen = idOfTitle(title, otherwise, number)
    const made = chosen === reserved ? "name_in_use" : yield* make(chosen)
    if (made !== "name_in_use") return made
  }
})
