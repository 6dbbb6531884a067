// refused: eslint(no-restricted-globals) Browsers refuse it to some people
export const refused = () => new BroadcastChannel("tabs")
