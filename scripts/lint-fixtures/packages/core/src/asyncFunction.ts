// refused: oxc(no-async-await) async is not allowed
export const refused = async () => 1
