import type { ComponentChildren } from "preact"
import { routeText, withParameters } from "../state/Route.ts"
import { asBack, route } from "../state/location.ts"

interface TabsProps {
  readonly label: string
  readonly parameter: string
  /** The value and the title of each tab, and what its page adds. */
  readonly tabs: ReadonlyArray<readonly [value: string, title: ComponentChildren, ...ReadonlyArray<unknown>]>
  readonly current: string
  readonly children?: ComponentChildren
}

/** Views of one list, each with an address of its own. */
export const Tabs = ({ label, parameter, tabs, current, children }: TabsProps) => (
  <div class="tabs" role="group" aria-label={label}>
    {tabs.map(([value, title]) => (
      <a
        key={value}
        href={routeText(withParameters(route.value, { [parameter]: value, selected: "" }))}
        aria-current={value === current ? "true" : undefined}
      >
        {title}
      </a>
    ))}
    {children}
  </div>
)

interface FilterFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onText: (text: string) => void
}

/** The field that `/` leads to. */
export const FilterField = ({ label, placeholder, value, onText }: FilterFieldProps) => (
  <label>
    <span class="unseen">{label}</span>
    <input
      data-filter
      type="search"
      placeholder={placeholder}
      value={value}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  </label>
)

/** Leads back to a page, and to the reader's place there. */
export const BackLink = ({
  to,
  children = "← Back",
}: {
  readonly to: string
  readonly children?: ComponentChildren
}) => (
  <p class="crumb">
    <a href={to} onClick={() => asBack(to)}>
      {children}
    </a>
  </p>
)
