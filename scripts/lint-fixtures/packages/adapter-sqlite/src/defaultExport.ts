// refused: import(no-default-export) Prefer named exports
export default 1
