import { decide } from "../pages/decide.ts"
import type { FORMS } from "../pages/decidePages.ts"
import { dialog } from "../state/dialog.ts"
import { mayAdminister } from "../state/session.ts"
import { QuietButton } from "./forms.tsx"
import type { PolicyFormProps } from "./PolicyDialog.tsx"
import { Loaded } from "./Script.tsx"

interface PolicyFormButtonProps extends Pick<PolicyFormProps, "path"> {
  readonly form: keyof typeof FORMS
  readonly label: string
  readonly describes?: string
}

/** Opens a form over the policy, whose script is loaded then. Only administrators have it. */
export const PolicyFormButton = ({ form, label, path, describes = label }: PolicyFormButtonProps) => {
  if (!mayAdminister.value) return null
  const open = () => {
    dialog.value = (
      <Loaded
        of={decide}
        draw={({ FORMS: forms, PolicyForm }) => <PolicyForm of={forms[form]} {...{ describes, path }} />}
      />
    )
  }
  return (
    <QuietButton describes={describes} does={open}>
      {label}
    </QuietButton>
  )
}
