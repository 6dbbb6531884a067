import { useSignal } from "@preact/signals"
import { ChecksField, useChecks } from "../../view/ChecksField.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog, type PolicyFormProps, useEntry } from "../../view/PolicyDialog.tsx"

/** Writes a public page with its first line. */
export const PageForm = (props: PolicyFormProps) => {
  const entry = useEntry(props)
  const [name, title, line] = [useSignal(""), useSignal(""), useSignal<string | undefined>(undefined)]
  const checks = useChecks()
  const called = line.value ?? checks.title
  const { pages = {} } = props.policy.policy
  const missing = [
    ...(name.value.trim() === "" || Object.hasOwn(pages, name.value.trim())
      ? ["a name that no page has"]
      : []),
    ...(title.value.trim() === "" ? ["a title"] : []),
    ...(checks.match.length === 0 ? ["checks"] : []),
    ...(called.trim() === "" ? ["what its line is called"] : []),
  ]
  const lines = [{ name: called.trim(), match: checks.match }]
  return (
    <PolicyDialog
      {...props}
      title="New page"
      path={["pages", name.value.trim()]}
      value={{ title: title.value.trim(), groups: [{ title: "Services", lines }] }}
      {...{ entry, missing }}
    >
      <div class="form-row">
        <Field
          label="Name"
          hint="The end of its address: lower-case letters, digits and -"
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
