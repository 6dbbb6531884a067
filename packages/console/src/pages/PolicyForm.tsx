import type { PolicyInForce } from "@tocsin/client"
import type { FunctionComponent } from "preact"
import { useRef } from "preact/hooks"
import { entryAt, type Path } from "../state/policyEntries.ts"
import { dialog } from "../state/dialog.ts"
import { mayAdminister } from "../state/session.ts"
import { QuietButton } from "../view/forms.tsx"
import type { PolicyFormProps } from "../view/PolicyDialog.tsx"
import { useRead } from "../view/usePages.ts"

/** A form over the policy, and the entry that it changes. */
export interface PolicyFormOf extends Pick<PolicyFormProps, "path"> {
  readonly of: FunctionComponent<PolicyFormProps>
  /** The button that opened it, of which the page has one. */
  readonly describes: string
}

/**
 * The name by which the texts of a form wait. Routes have none and move, so each is known by what it says. Lines of
 * a page may have the same one.
 */
const nameOf = (describes: string, { policy }: PolicyInForce, path: Path): string => {
  const [key] = path
  const said = JSON.stringify(entryAt(policy, path)?.value)
  if (key === "routes") return said
  return key === "pages" ? [describes, ...path, ...(path.length > 2 ? [said] : [])].join(" ") : describes
}

/** A form over the policy in force, which may change while the form is open. */
export const PolicyForm = ({ describes, of: Form, path }: PolicyFormOf) => {
  const { value: policy } = useRead<PolicyInForce>("ops/v1/policy")
  const name = useRef("")
  if (policy === undefined) return null
  name.current ||= nameOf(describes, policy, path ?? [])
  return <Form policy={policy} path={path} name={name.current} onClose={close} />
}

const close = (): void => void (dialog.value = undefined)

interface FormButtonProps extends Omit<PolicyFormOf, "describes"> {
  readonly label: string
  readonly describes?: string
}

/** Opens a form over the policy. Only administrators have it. */
export const FormButton = ({ label, describes = label, ...form }: FormButtonProps) =>
  mayAdminister.value ? (
    <QuietButton
      describes={describes}
      does={() => (dialog.value = <PolicyForm {...form} describes={describes} />)}
    >
      {label}
    </QuietButton>
  ) : null
