import type { Part } from "../../parts.ts"
import { Silences } from "./Silences.tsx"

export const part = { pages: [["silences 0", Silences]] } satisfies Part
