import { it } from "@effect/vitest"
import { compareInMemory } from "./compareStories.ts"

it.live("random stories lead to the messages of the model, as simulations predict: part 4 of 4", () =>
  compareInMemory({ from: 15000, to: 20000, few: 1 }),
)
