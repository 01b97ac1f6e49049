// Numbers as most people expect them to be written: digits in groups of three.
0, function ({ builtins }) {
	const { String, Number, isFinite, indexOf, slice, endsWith, toFixed } = builtins;
	return (value, options) => {
		const number = Number(value);
		if (!isFinite(number)) return number > 0 ? "∞" : number < 0 ? "-∞" : String(number);
		const least = options?.minimumFractionDigits ?? 0;
		const most = options?.maximumFractionDigits ?? (least > 3 ? least : 3);
		const fixed = toFixed(number, most);
		const point = indexOf(fixed, ".");
		let rest = point < 0 ? "" : slice(fixed, point + 1);
		while (rest.length > least && endsWith(rest, "0")) rest = slice(rest, 0, -1);
		const whole = point < 0 ? fixed : slice(fixed, 0, point);
		// Beyond that a number is written with an exponent.
		const groups = options?.useGrouping !== false && number < 1e21 && number > -1e21;
		return (groups ? grouped(whole) : whole) + (rest ? `.${rest}` : "");
	};

	function grouped(whole) {
		const sign = whole[0] === "-" ? "-" : "";
		let left = sign ? slice(whole, 1) : whole;
		let out = "";
		for (; left.length > 3; left = slice(left, 0, -3)) out = `,${slice(left, -3)}${out}`;
		return sign + left + out;
	}
};
