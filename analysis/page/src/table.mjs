// Tables that sort, filter, and show more rows on demand.
import { el, replace, announce } from './dom.mjs';
import { formatCount } from './format.mjs';

// Puts a table into a box that scrolls, whose right edge says whether the table goes on there. `name` is read by screen readers.
export function scrollBox(name, kind, content) {
  const scroll = el('div', { class: `scroll ${kind}`, tabindex: '0', role: 'region', 'aria-label': name }, content);
  const edge = el('div', { class: 'edge' }, scroll);
  const note = () => edge.classList.toggle('goes-on', scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft > 2);
  scroll.addEventListener('scroll', note, { passive: true });
  const observer = new ResizeObserver(note);
  for (const one of [scroll, content]) observer.observe(one);
  return edge;
}

// Makes a table. `leads(row)` returns whether a click on a row leads on. `isNear` keeps numbers near names in wide windows. `columns` are {
// title, value(row), text(row), number, bar(row), node(row) }. `rows` come in the order in which they are shown first.
export function table({
  caption,
  columns,
  rows,
  isNear = !columns.some((column) => column.wide),
  first = 50,
  onrow = null,
  leads = () => true,
  rowLabel = null,
  sort = null,
  isDim = null,
}) {
  let shown = first;
  let order = sort;
  let sorted = rows;
  const sortNow = () => {
    sorted = rows;
    if (!order) return;
    const { value } = columns[order.column];
    const sign = order.down ? -1 : 1;
    sorted = [...rows].sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      if (left === right) return 0;
      if (left === null || left === undefined) return 1;
      if (right === null || right === undefined) return -1;
      return (left < right ? -1 : 1) * sign;
    });
  };
  const head = el('tr');
  const body = el('tbody');
  const foot = el('div', { class: 'more' });
  const draw = () => {
    replace(
      head,
      columns.map((column, index) => {
        const direction = order?.column === index ? (order.down ? 'descending' : 'ascending') : null;
        const sorts = () => {
          order = { column: index, down: order?.column === index ? !order.down : Boolean(column.number) };
          sortNow();
          draw();
          announce(`sorted by ${column.title}, ${order.down ? 'descending' : 'ascending'}`);
          head.children[index].firstChild.focus();
        };
        return el(
          'th',
          { scope: 'col', class: column.number ? 'number' : null, 'aria-sort': direction },
          el(
            'button',
            { type: 'button', onclick: sorts, title: column.about || `sort by ${column.title}` },
            column.title,
            el(
              'span',
              { class: 'arrow', 'aria-hidden': 'true' },
              direction === 'descending' ? ' ▾' : direction === 'ascending' ? ' ▴' : '',
            ),
          ),
        );
      }),
    );
    replace(
      body,
      sorted.slice(0, shown).map((row) => line(row)),
    );
    const left = sorted.length - shown;
    replace(
      foot,
      left > 0 && [
        el(
          'button',
          {
            type: 'button',
            onclick: () => {
              shown += Math.max(200, first);
              draw();
            },
          },
          `Show more (${formatCount(left)} left)`,
        ),
      ],
      rows.length > 5 &&
        el(
          'a',
          {
            class: 'csv',
            href: '#',
            download: `${caption.replace(/[^a-zA-Z0-9]+/g, '-')}.csv`,
            onclick: (event) => (event.currentTarget.href = csvOf(columns, sorted)),
          },
          'CSV',
        ),
      rows.length === 0 && el('p', { class: 'none' }, 'Nothing here in this range.'),
    );
  };
  const line = (row) => {
    const cells = columns.map((column, index) => {
      const share = column.bar ? column.bar(row) : null;
      const content = column.node ? column.node(row) : (column.text || column.value)(row);
      const cell = el(
        index === 0 && !column.number ? 'th' : 'td',
        {
          scope: index === 0 && !column.number ? 'row' : null,
          class: column.number ? 'number' : column.wide ? 'wide' : null,
          'data-value': column.number ? column.value(row) : null,
        },
        onrow && leads(row) && index === (rowLabel ?? 0)
          ? el('button', { type: 'button', class: 'link', onclick: () => onrow(row) }, content)
          : content,
      );
      if (share !== null) {
        cell.classList.add('bar');
        cell.style.setProperty('--share', `${Math.min(100, Math.max(0, share * 100)).toFixed(2)}%`);
      }
      return cell;
    });
    // The button is for the keyboard. A click anywhere in the row does the same, unless it selects text.
    const clicks =
      onrow && leads(row) && ((event) => !event.target.closest('button, a, summary, pre') && getSelection().isCollapsed && onrow(row));
    return el(
      'tr',
      { class: [isDim?.(row) && 'dim', clicks && 'leads'].filter(Boolean).join(' ') || null, onclick: clicks || null },
      cells,
    );
  };
  sortNow();
  draw();
  return el(
    'div',
    { class: 'table' },
    scrollBox(caption, isNear ? 'near' : '', el('table', null, el('caption', null, caption), el('thead', null, head), body)),
    foot,
  );
}

// Returns the table as CSV with plain numbers. An apostrophe keeps spreadsheets from running a text as a formula.
function csvOf(columns, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    return `"${(typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replace(/"/g, '""')}"`;
  };
  const lines = [columns.map((column) => cell(column.title)), ...rows.map((row) => columns.map((column) => cell(column.value(row))))];
  return URL.createObjectURL(new Blob([lines.map((line) => line.join(',')).join('\r\n')], { type: 'text/csv' }));
}

// Returns a list of names and values.
export function facts(rows, more = null) {
  return el(
    'dl',
    { class: more ? `facts ${more}` : 'facts' },
    rows
      .filter((row) => row)
      .map(([name, value, id, raw]) => el('div', null, el('dt', null, name), el('dd', { id: id || null, 'data-value': raw }, value))),
  );
}
