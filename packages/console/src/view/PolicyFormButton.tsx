import { decide } from "../pages/decide.ts"
import type { PolicyFormOf } from "../pages/PolicyForm.tsx"
import { dialog } from "../state/dialog.ts"
import { mayAdminister } from "../state/session.ts"
import { QuietButton } from "./forms.tsx"
import { Loaded } from "./Script.tsx"

interface PolicyFormButtonProps extends PolicyFormOf {
  readonly label: string
  readonly describes?: string
}

/** Opens a form over the policy, whose script is loaded then. Only administrators have it. */
export const PolicyFormButton = ({ form, label, path, describes = label }: PolicyFormButtonProps) => {
  if (!mayAdminister.value) return null
  const open = () => {
    dialog.value = <Loaded of={decide} draw={({ PolicyForm }) => <PolicyForm form={form} path={path} />} />
  }
  return (
    <QuietButton describes={describes} does={open}>
      {label}
    </QuietButton>
  )
}
