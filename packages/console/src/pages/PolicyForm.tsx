import type { PolicyInForce } from "@tocsin/client"
import { RotaForm } from "../features/onCall/RotaForm.tsx"
import { LineForm } from "../features/publicPages/LineForm.tsx"
import { PageForm } from "../features/publicPages/PageForm.tsx"
import { WindowForm } from "../features/silences/WindowForm.tsx"
import { dialog } from "../state/dialog.ts"
import { mayAdminister } from "../state/session.ts"
import { QuietButton } from "../view/forms.tsx"
import type { PolicyFormProps } from "../view/PolicyDialog.tsx"
import { useRead } from "../view/usePages.ts"
import { RouteForm } from "./RouteForm.tsx"

const FORMS = { line: LineForm, page: PageForm, rota: RotaForm, route: RouteForm, window: WindowForm }

/** A form over the policy, and the entry that it changes. */
export interface PolicyFormOf extends Pick<PolicyFormProps, "path"> {
  readonly form: keyof typeof FORMS
}

/** A form over the policy in force, which may change while the form is open. */
export const PolicyForm = ({ form, path }: PolicyFormOf) => {
  const { value: policy } = useRead<PolicyInForce>("ops/v1/policy")
  const Form = FORMS[form]
  return policy === undefined ? null : <Form policy={policy} path={path} onClose={close} />
}

const close = (): void => void (dialog.value = undefined)

interface FormButtonProps extends PolicyFormOf {
  readonly label: string
  readonly describes?: string
}

/** Opens a form over the policy. Only administrators have it. */
export const FormButton = ({ label, describes = label, ...of }: FormButtonProps) =>
  mayAdminister.value ? (
    <QuietButton describes={describes} does={() => (dialog.value = <PolicyForm {...of} />)}>
      {label}
    </QuietButton>
  ) : null
