// The part of the model package that hook modules import as values. The host decides whether a model can be asked.
const { begin, sync, missing, part } = globalThis.__hookrail;
export const complete = (model, context, options = {}) => {
	const { signal, ...rest } = options;
	let stop;
	return begin(0, "host", "complete", { request: { model, context, options: rest } }, (id) => {
		stop = () => sync("process", "cancel", { task: id });
		if (signal?.aborted) stop();
		else signal?.addEventListener("abort", stop);
	}).finally(() => signal?.removeEventListener("abort", stop));
};
export const completeSimple = complete;
export const getModel = (provider, id) => sync("host", "models", { call: 0, query: { find: { provider: String(provider), id: String(id) } } });
export const getModels = () => sync("host", "models", { call: 0, query: "all" }) ?? [];
export const { Type, StringEnum } = part("typebox.js");
export const stream = missing("stream of pi-ai", "use complete");
export const streamSimple = missing("streamSimple of pi-ai", "use complete");
