import * as checkMetrics from "./features/checkMetrics/part.ts"
import * as enrolment from "./features/enrolment/part.ts"
import * as integrations from "./features/integrations/part.ts"
import * as links from "./features/links/part.ts"
import * as numbers from "./features/numbers/part.ts"
import * as push from "./features/push/part.ts"
import * as receivers from "./features/receivers/part.ts"
import * as signIn from "./features/signIn/part.ts"
import * as silences from "./features/silences/part.ts"
import * as watches from "./features/watches/part.ts"

/** The features with settings. All settings, and the rules that follow them, derive from it (CONTRIBUTING.md#a-new-feature). */
export const features = [
  checkMetrics,
  enrolment,
  integrations,
  links,
  numbers,
  push,
  receivers,
  signIn,
  silences,
  watches,
] as const
