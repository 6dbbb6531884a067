import { useDraft } from "../../state/drafts.ts"
import type { Policy } from "../../state/policyEntries.ts"
import { ChecksField, useChecks } from "../../view/ChecksField.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog, type PolicyFormProps, useEntry } from "../../view/PolicyDialog.tsx"

export type PolicyPage = NonNullable<Policy["pages"]>[string]
type PolicyLine = PolicyPage["groups"][number]["lines"][number]

/** Writes a line of a public page: which checks it has, and what readers call it. Its path without a line adds one. */
export const LineForm = (props: PolicyFormProps) => {
  const { name: form, path = [], policy } = props
  const [key = "", page = "", ...place] = path
  const entry = useEntry<PolicyLine>({ ...props, path: place.length > 0 ? path : undefined })
  const former = entry.value?.value
  const checks = useChecks(form, former?.match)
  const [name, group] = [useDraft(form, "name", former?.name), useDraft(form, "group", "0")]
  const groups = policy.policy.pages?.[page]?.groups ?? []
  const called = name.value ?? checks.title
  const { match: _, name: __, ...kept } = former ?? {}
  const missing = [
    ...(checks.match.length === 0 ? ["checks"] : []),
    ...(called.trim() === "" ? ["a name"] : []),
  ]
  return (
    <PolicyDialog
      {...props}
      isAwaited={checks.isAwaited}
      title={former === undefined ? "Add a line" : `Change ${former.name}`}
      path={place.length > 0 ? path : [key, page, "groups", group.value, "lines", "-"]}
      value={{ name: called.trim(), ...kept, match: checks.match }}
      {...{ entry, kept, missing }}
    >
      <div class="form-row">
        <ChecksField {...checks.field} />
        <Field label="Name" value={called} onText={(text) => (name.value = text)} />
        {former === undefined && groups.length > 1 && (
          <Field
            label="Group"
            options={groups.map(({ title }, position) => [String(position), title])}
            {...bound(group)}
          />
        )}
      </div>
    </PolicyDialog>
  )
}
