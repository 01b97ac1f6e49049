// Building JSON schemas as the package typebox does. A schema is plain data; nothing is checked against it here.
0, function ({ named }) {
	const optional = new WeakSet();
	const make = (schema, options) => ({ ...schema, ...options });
	const object = (properties, options) => {
		const required = Object.keys(properties).filter((name) => !optional.has(properties[name]));
		return make({ type: "object", ...(required.length ? { required } : {}), properties }, options);
	};
	const changed = (schema, names) => {
		const properties = {};
		for (const [name, inner] of Object.entries(schema.properties ?? {})) if (names(name)) properties[name] = inner;
		const { properties: _, required: __, ...rest } = schema;
		return object(properties, rest);
	};
	const Optional = (schema) => {
		const copy = { ...schema };
		optional.add(copy);
		return copy;
	};
	const listed = (keys) => (Array.isArray(keys) ? keys : [keys]);
	const Type = named("Type", {
		Any: (options) => make({}, options),
		Unknown: (options) => make({}, options),
		Null: (options) => make({ type: "null" }, options),
		Boolean: (options) => make({ type: "boolean" }, options),
		String: (options) => make({ type: "string" }, options),
		Number: (options) => make({ type: "number" }, options),
		Integer: (options) => make({ type: "integer" }, options),
		Literal: (value, options) => make({ const: value, type: typeof value }, options),
		Enum: (values, options) => make({ anyOf: Object.values(values).map((value) => ({ const: value, type: typeof value })) }, options),
		Array: (items, options) => make({ type: "array", items }, options),
		Tuple: (items, options) => make({ type: "array", items, additionalItems: false, minItems: items.length, maxItems: items.length }, options),
		Object: object,
		Record: (_key, value, options) => make({ type: "object", patternProperties: { "^(.*)$": value } }, options),
		Union: (anyOf, options) => make({ anyOf }, options),
		Intersect: (allOf, options) => make({ allOf }, options),
		Partial: (schema, options) => make({ ...changed({ ...schema, properties: Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, Optional(inner)])) }, () => true) }, options),
		Pick: (schema, keys, options) => make(changed(schema, (name) => listed(keys).includes(name)), options),
		Omit: (schema, keys, options) => make(changed(schema, (name) => !listed(keys).includes(name)), options),
		Optional,
		Readonly: (schema) => schema,
		Unsafe: (schema) => ({ ...schema }),
		Date: (options) => make({ type: "string", format: "date-time" }, options),
	});
	const StringEnum = (values, options) => make({ type: "string", enum: [...values] }, options);
	return { Type, StringEnum };
};
