// fetch and what goes with it. A body is bytes, kept as text with one character for each.
0, function ({ sync, begin, part }) {
	const { bytesOf, data } = part("node.js");

	class Headers {
		#map = new Map();
		constructor(init = {}) {
			const pairs = init[Symbol.iterator] ? init : Object.entries(init);
			for (const [name, value] of pairs) this.append(name, value);
		}
		append(name, value) {
			const key = String(name).toLowerCase();
			this.#map.set(key, [...(this.#map.get(key) ?? []), String(value)]);
		}
		set(name, value) {
			this.#map.set(String(name).toLowerCase(), [String(value)]);
		}
		get(name) {
			return this.#map.get(String(name).toLowerCase())?.join(", ") ?? null;
		}
		getSetCookie() {
			return [...(this.#map.get("set-cookie") ?? [])];
		}
		has(name) {
			return this.#map.has(String(name).toLowerCase());
		}
		delete(name) {
			this.#map.delete(String(name).toLowerCase());
		}
		forEach(callback) {
			for (const [name, value] of this.entries()) callback(value, name, this);
		}
		keys() {
			return [...this.#map.keys()].values();
		}
		values() {
			return [...this.#map.values()].map((values) => values.join(", ")).values();
		}
		entries() {
			return [...this.#map].map(([name, values]) => [name, values.join(", ")]).values();
		}
		[Symbol.iterator]() {
			return this.entries();
		}
	}

	// Something with a body that is read once.
	class Body {
		#body;
		bodyUsed = false;
		constructor(body) {
			this.#body = body;
		}
		async #read() {
			if (this.bodyUsed) throw new TypeError("Body has already been read");
			this.bodyUsed = true;
			const body = this.#body;
			if (body === null || body === undefined) return "";
			return typeof body.bytes === "function" ? data(await body.bytes()) : typeof body.text === "function" ? data(await body.text()) : data(body);
		}
		async text() {
			return sync("text", "decode", { bytes: await this.#read() });
		}
		async json() {
			return JSON.parse(await this.text());
		}
		async bytes() {
			return new Uint8Array(bytesOf(await this.#read()));
		}
		async arrayBuffer() {
			return bytesOf(await this.#read()).buffer;
		}
		async blob() {
			return new Blob([await this.bytes()], { type: this.headers?.get("content-type") ?? "" });
		}
		get raw() {
			return this.#body;
		}
	}

	class Response extends Body {
		constructor(body = null, { status = 200, statusText = "", headers = {}, url = "", redirected = false } = {}) {
			super(body);
			Object.assign(this, { status, statusText, headers: new Headers(headers), url, redirected, ok: status >= 200 && status < 300, type: "basic" });
		}
		clone() {
			if (this.bodyUsed) throw new TypeError("Body has already been read");
			return new Response(this.raw, this);
		}
		static json(value, init = {}) {
			return new Response(JSON.stringify(value), { ...init, headers: { "content-type": "application/json", ...init.headers } });
		}
		static error() {
			return new Response(null, { status: 0 });
		}
	}

	class Request extends Body {
		constructor(input, init = {}) {
			super(init.body ?? input?.raw ?? null);
			const { method = input?.method ?? "GET", headers = input?.headers ?? {}, signal = input?.signal, redirect = input?.redirect ?? "follow" } = init;
			Object.assign(this, { url: String(input?.url ?? input), method: String(method).toUpperCase(), headers: new Headers(headers), signal, redirect });
		}
	}

	// The type that a body has when its sender says nothing about it.
	const typeOf = (body) => (typeof body === "string" ? "text/plain;charset=UTF-8" : body instanceof URLSearchParams ? "application/x-www-form-urlencoded;charset=UTF-8" : body instanceof Blob ? body.type || undefined : undefined);

	async function fetch(input, init) {
		const request = new Request(input, init);
		const { url, method, headers, signal, redirect } = request;
		signal?.throwIfAborted();
		const type = typeOf(request.raw);
		if (type && !headers.has("content-type")) headers.set("content-type", type);
		const body = request.raw === null ? undefined : data(request.raw instanceof URLSearchParams ? String(request.raw) : await request.bytes());
		if (body !== undefined && (method === "GET" || method === "HEAD")) throw new TypeError(`Request with ${method} method cannot have body`);
		let stop;
		const begun = begin(0, "process", "fetch", { url, method, headers: [...headers], redirect, body }, (id) => (stop = () => sync("process", "cancel", { task: id })));
		signal?.addEventListener("abort", stop);
		let answer;
		try {
			answer = await begun;
		} catch (error) {
			throw signal?.aborted ? signal.reason : error;
		} finally {
			signal?.removeEventListener("abort", stop);
		}
		const { status, statusText } = answer;
		if (redirect === "error" && status >= 300 && status < 400 && status !== 304) throw new TypeError("fetch failed: it was redirected");
		return new Response(bytesOf(answer.body), { status, statusText, headers: answer.headers, url: answer.url, redirected: answer.redirected });
	}

	return { fetch, Headers, Response, Request };
};
