/** A drawing of `drawings.mjs`, by its name. */
export const Icon = ({ name }: { readonly name: string }) => (
  <i class={`icon of-${name}`} aria-hidden="true" />
)
