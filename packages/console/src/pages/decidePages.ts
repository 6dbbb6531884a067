import type { FunctionComponent } from "preact"
import { RotaForm } from "../features/onCall/RotaForm.tsx"
import { LineForm } from "../features/publicPages/LineForm.tsx"
import { PageForm } from "../features/publicPages/PageForm.tsx"
import { WindowForm } from "../features/silences/WindowForm.tsx"
import { Policy } from "./Policy.tsx"
import { RouteForm } from "./RouteForm.tsx"
import { PublicPages } from "../features/publicPages/PublicPages.tsx"
import { ReportPage } from "../features/report/Report.tsx"
import { Receivers } from "../features/receivers/Receivers.tsx"

export { Windows } from "../features/silences/Windows.tsx"
export { KeptMails } from "../features/integrations/KeptMails.tsx"
export { MatchField } from "../view/ChecksField.tsx"
export { PolicyForm } from "./PolicyForm.tsx"
export { Invitation } from "../features/signIn/Invitation.tsx"
export { Code } from "../features/signIn/Code.tsx"
export { Preferences } from "../view/Preferences.tsx"
export { renew } from "../features/push/thisBrowser.ts"
export { ReceiverTable } from "../features/receivers/Receivers.tsx"

/** Forms over the policy by their names. */
export const FORMS = { line: LineForm, page: PageForm, rota: RotaForm, route: RouteForm, window: WindowForm }

// A separate script: what it shares with that of the other pages must be in the first one.
export const PAGES: ReadonlyMap<string, FunctionComponent> = new Map([
  ["policy 0", Policy],
  ["receivers 0", Receivers],
  ["pages 0", PublicPages],
  ["report 0", ReportPage],
])
