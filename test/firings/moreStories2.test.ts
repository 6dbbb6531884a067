import { it } from "@effect/vitest"
import { compareInMemory } from "./compareStories.ts"

it.live("random stories lead to the messages of the model, as simulations predict: part 2 of 4", () =>
  compareInMemory({ from: 5000, to: 10000, few: 1 }),
)
