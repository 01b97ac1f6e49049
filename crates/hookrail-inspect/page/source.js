// Where records come from: the server that served this page, or the data in an exported file.

const KEY = 'hookrail-api';

function embedded(name) {
  const node = document.getElementById(`data-${name}`);
  return node ? JSON.parse(node.textContent) : undefined;
}

function exportedSource() {
  const records = embedded('records');
  const none = () => Promise.reject(new Error('this file was exported: it holds records and nothing else'));
  return {
    isLive: false,
    about: embedded('about'),
    load: async (onRows) => onRows(embedded('rows')),
    follow: () => {},
    record: async (number) => records[number],
    search: async (text) => {
      // The records are JSON, in which a quotation mark has another form.
      const wanted = JSON.stringify(text).slice(1, -1).toLowerCase();
      const found = records.flatMap((record, number) => ((JSON.stringify(record) ?? '').toLowerCase().includes(wanted) ? [number] : []));
      return { found, end: records.length };
    },
    hooks: none,
    explain: none,
    fire: none,
  };
}

async function exchange(token) {
  const answer = await fetch('/session', { method: 'POST', body: JSON.stringify({ token }) });
  if (!answer.ok) throw new Error(await answer.text());
  const { api } = await answer.json();
  // The storage belongs to this port alone, unlike a cookie.
  sessionStorage.setItem(KEY, api);
  return api;
}

// Opens the source. The token is taken out of the address, so that it is in no history and on no screenshot.
export async function openSource() {
  if (document.getElementById('data-records')) return exportedSource();
  const token = /^#token=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (token) history.replaceState(null, '', '/#/events');
  const api = token ? await exchange(token) : sessionStorage.getItem(KEY);
  if (!api) throw new Error('open the address that `hookrail inspect` printed');
  return serverSource(api);
}

async function serverSource(api) {
  const read = async (path, body) => {
    const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(api + path, options);
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    let message = text;
    try { message = JSON.parse(text).error; } catch { /* a plain sentence */ }
    throw new Error(message);
  };
  return {
    isLive: true,
    about: await read('about'),
    // Reads all rows in parts, so that the browser can draw in between.
    load: async (onRows) => {
      let from = 0;
      for (;;) {
        const part = await read(`rows/${from}`);
        onRows(part.rows);
        from = part.next;
        if (part.rows.length === 0 || part.next >= part.end) return from;
      }
    },
    follow: (from, onRows, onState) => {
      const events = new EventSource(`${api}live/${from}`);
      events.onmessage = (message) => onRows(JSON.parse(message.data));
      events.onopen = () => onState('live');
      events.onerror = () => onState(events.readyState === EventSource.CLOSED ? 'ended' : 'reconnecting');
    },
    record: (number) => read(`record/${number}`),
    search: (text, from) => read('search', { text, from }),
    hooks: () => read('hooks'),
    explain: (trial) => read('explain', trial),
    fire: (trial) => read('fire', trial),
  };
}
