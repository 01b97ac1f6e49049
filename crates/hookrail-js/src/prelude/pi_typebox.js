// The part of typebox that hook modules import as values.
export const { Type } = globalThis.__hookrail.part("typebox.js");
