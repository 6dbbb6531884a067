import { part as enrolment } from "./features/enrolment/part.tsx"
import { part as integrations } from "./features/integrations/part.tsx"
import { part as numbers } from "./features/numbers/part.tsx"
import { part as onCall } from "./features/onCall/part.tsx"
import { part as silences } from "./features/silences/part.ts"
import { part as watches } from "./features/watches/part.tsx"
import type { Part } from "./parts.ts"

/** The parts of features in the second script, in their order on pages that show several (CONTRIBUTING.md#a-new-feature). */
export const features: ReadonlyArray<Part> = [watches, enrolment, integrations, numbers, onCall, silences]
