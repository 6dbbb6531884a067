import { useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import type { FunctionComponent } from "preact"
import { decide } from "../pages/decide.ts"
import { mayAdminister } from "../state/session.ts"
import { QuietButton } from "./forms.tsx"
import { Loaded } from "./Script.tsx"
import { useRead } from "./usePages.ts"

type Module = Extract<typeof decide.module.value, object>

interface PolicyFormProps {
  readonly policy: PolicyInForce
  readonly onClose: () => void
}

const Opened = ({ form, onClose }: Pick<PolicyFormProps, "onClose"> & { readonly form: FormName }) => {
  const { value: policy } = useRead<PolicyInForce>("ops/v1/policy")
  if (policy === undefined) return null
  const draw = (module: Module) => {
    const Form: FunctionComponent<PolicyFormProps> = module[form]
    return <Form policy={policy} onClose={onClose} />
  }
  return <Loaded of={decide} draw={draw} />
}

type FormName = "RotaForm" | "WindowForm"

/** Opens a form over the policy, whose script is loaded then. Only administrators have it. */
export const PolicyFormButton = ({ form, label }: { readonly form: FormName; readonly label: string }) => {
  const isOpen = useSignal(false)
  if (!mayAdminister.value) return null
  return (
    <>
      <QuietButton does={() => (isOpen.value = true)}>{label}</QuietButton>
      {isOpen.value && <Opened form={form} onClose={() => (isOpen.value = false)} />}
    </>
  )
}
