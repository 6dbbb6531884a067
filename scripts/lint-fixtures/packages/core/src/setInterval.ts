// refused: eslint(no-restricted-globals) Repeating is a Schedule
export const refused = setInterval
