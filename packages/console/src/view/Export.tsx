import { ActionButton } from "./forms.tsx"
import type { Exported } from "./saveRows.ts"

/** Saves all rows that the filters of a page find, as the API has them. */
export const Export = (props: Exported) => (
  <span class="inline">
    {(["csv", "json"] as const).map((kind) => (
      <ActionButton
        key={kind}
        does={async () => (await import("../pages/otherPages.ts")).saveRows(props, kind)}
      >
        Export {kind.toUpperCase()}
      </ActionButton>
    ))}
  </span>
)
