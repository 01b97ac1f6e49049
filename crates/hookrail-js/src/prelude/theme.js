// Colours by the names of the host's theme. What a colour looks like, and whether there are any, is the host's business.
0, function ({ sync, named }) {
	const text = (value) => (typeof value === "string" ? value : String(value));
	const styled = (style) => (value) => sync("host", "styled", { style, text: text(value) });
	// What the host puts before a text in a style.
	const before = (style) => styled(style)("\u0000").split("\u0000")[0];
	return named("ctx.ui.theme", {
		fg: (colour, value) => styled(`fg:${text(colour)}`)(value),
		bg: (colour, value) => styled(`bg:${text(colour)}`)(value),
		bold: styled("bold"),
		italic: styled("italic"),
		underline: styled("underline"),
		strikethrough: styled("strikethrough"),
		inverse: styled("inverse"),
		getFgAnsi: (colour) => before(`fg:${text(colour)}`),
		getBgAnsi: (colour) => before(`bg:${text(colour)}`),
		getColorMode: () => "256color",
		getThinkingBorderColor: (level) => styled(`fg:thinking${text(level).replace(/^./, (first) => first.toUpperCase())}`),
		getBashModeBorderColor: () => styled("fg:bashMode"),
	});
};
