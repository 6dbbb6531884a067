import { useDraft } from "../../state/drafts.ts"
import { asName, nameHint } from "../../state/names.ts"
import { ChecksField, useChecks } from "../../view/ChecksField.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog, type PolicyFormProps, useEntry } from "../../view/PolicyDialog.tsx"

/** Writes a public page with its first line. */
export const PageForm = (props: PolicyFormProps) => {
  const entry = useEntry(props)
  const { name: form, policy } = props
  const [name, title] = [useDraft(form, "name", ""), useDraft(form, "title", "")]
  const line = useDraft<string | undefined>(form, "line", undefined)
  const checks = useChecks(form)
  const called = line.value ?? checks.title
  const { pages = {} } = policy.policy
  const address = asName(name.value.trim(), "-")
  const missing = [
    ...(address === "" || Object.hasOwn(pages, address) ? ["a name that no page has"] : []),
    ...(title.value.trim() === "" ? ["a title"] : []),
    ...(checks.match.length === 0 ? ["checks"] : []),
    ...(called.trim() === "" ? ["what its line is called"] : []),
  ]
  const lines = [{ name: called.trim(), match: checks.match }]
  return (
    <PolicyDialog
      {...props}
      isAwaited={checks.isAwaited}
      title="New page"
      path={["pages", address]}
      value={{ title: title.value.trim(), groups: [{ title: "Services", lines }] }}
      {...{ entry, missing }}
    >
      <div class="form-row">
        <Field
          label="Name"
          hint={`The end of its address. ${nameHint(name.value, "-")}`}
          placeholder="shop"
          {...bound(name)}
        />
        <Field label="Title" placeholder="Shop" {...bound(title)} />
        <ChecksField {...checks.field} />
        <Field label="Line" placeholder="Checkout" value={called} onText={(text) => (line.value = text)} />
      </div>
    </PolicyDialog>
  )
}
