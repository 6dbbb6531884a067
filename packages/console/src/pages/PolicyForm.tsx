import type { PolicyInForce } from "@tocsin/client"
import type { FunctionComponent } from "preact"
import { dialog } from "../state/dialog.ts"
import { mayAdminister } from "../state/session.ts"
import { QuietButton } from "../view/forms.tsx"
import type { PolicyFormProps } from "../view/PolicyDialog.tsx"
import { useRead } from "../view/usePages.ts"

/** A form over the policy, and the entry that it changes. */
export interface PolicyFormOf extends Pick<PolicyFormProps, "path"> {
  readonly of: FunctionComponent<PolicyFormProps>
}

/** A form over the policy in force, which may change while the form is open. */
export const PolicyForm = ({ of: Form, path }: PolicyFormOf) => {
  const { value: policy } = useRead<PolicyInForce>("ops/v1/policy")
  return policy === undefined ? null : <Form policy={policy} path={path} onClose={close} />
}

const close = (): void => void (dialog.value = undefined)

interface FormButtonProps extends PolicyFormOf {
  readonly label: string
  readonly describes?: string
}

/** Opens a form over the policy. Only administrators have it. */
export const FormButton = ({ label, describes = label, ...form }: FormButtonProps) =>
  mayAdminister.value ? (
    <QuietButton describes={describes} does={() => (dialog.value = <PolicyForm {...form} />)}>
      {label}
    </QuietButton>
  ) : null
