// refused: oxlint Unused oxlint-disable directive
// oxlint-disable-next-line eslint/no-var -- nothing here needs it
export const refused = 1
