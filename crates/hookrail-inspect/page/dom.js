// Building the page. Text is always set as text: nothing here takes markup. Every text of a record goes through
// `visible`, so that control characters and characters that change the direction of text are seen, not obeyed.

const SVG = 'http://www.w3.org/2000/svg';

// Control characters but tab and line feed, marks of direction, characters without width, and line separators.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

export function visible(text) {
  return String(text).replace(HIDDEN, (found) => {
    const code = found.codePointAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : '⟨U+' + code.toString(16).toUpperCase().padStart(4, '0') + '⟩';
  });
}

// JSON that can be edited: what would not be seen is written as JSON writes it, so nothing is lost.
export function escapedJson(text) {
  const escape = (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0');
  return text.replace(HIDDEN, (found) => found.split('').map(escape).join(''));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : visible(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

// An element. Attributes that begin with `on` are listeners.
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

export function button(label, onclick, attributes) {
  return el('button', { type: 'button', onclick, ...attributes }, label);
}

// A table with a caption. A cell is a text or a node; a row may carry the class of its `tr` as `row.className`.
export function table(caption, heads, rows, attributes) {
  const head = el('tr', null, heads.map((name) => el('th', { scope: 'col' }, name)));
  const body = rows.map((cells) => el('tr', { class: cells.className }, cells.map((cell) => el('td', null, cell))));
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', attributes, el('caption', null, caption), el('thead', null, head), el('tbody', null, body)));
}

export function section(title, ...children) {
  return el('section', null, el('h3', null, title), children);
}

export function note(...children) {
  return el('p', { class: 'note' }, children);
}

// Lets the browser draw and answer before long work goes on.
export function pause() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); resolve(); };
    channel.port2.postMessage(null);
  });
}
