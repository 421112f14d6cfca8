'use strict';
window.addEventListener('load', () => {
  const LETTER = 7.23, GAP = 3, NEAR = 0.0003;
  const byId = (id) => document.getElementById(id);
  const page = byId('page'), search = byId('search'), reset = byId('reset');
  const matched = byId('matched'), detail = byId('detail'), waiting = byId('waiting');
  const about = byId('about'), ofWhatRan = about.textContent;
  const frames = Array.from(byId('frames').querySelectorAll('g'), (g) => {
    const rect = g.querySelector('rect'), title = g.querySelector('title').textContent;
    const number = (name) => parseFloat(rect.getAttribute(name));
    // What ran; and, where something waited, all.
    const isHidden = g.style.display === 'none';
    const views = [{x: number('x'), width: isHidden ? 0 : number('width'), title}];
    if (g.dataset.all) {
      const [x, width] = g.dataset.all.split(' ', 2);
      const name = title.replace(/ \([^()]*\)$/, '');
      const sums = g.dataset.all.slice(x.length + width.length + 2);
      views.push({x: parseFloat(x), width: parseFloat(width), title: name + ' ' + sums});
    }
    return {
      g, rect, views, ...views[0], name: title.replace(/ \([^()]*\)$/, ''), short: g.dataset.short,
      text: g.querySelector('text'), y: number('y'),
    };
  });
  let zoomed = null, hits = [], fault = '';

  // Lays all frames out so that `zoomed` takes the whole width.
  function layOut() {
    const pixels = page.getBoundingClientRect().width;
    const from = zoomed ? zoomed.x : 0, span = zoomed ? zoomed.width : 100, top = zoomed ? zoomed.y : -1;
    for (const frame of frames) {
      const isAbove = frame.y < top && frame.x <= from + NEAR && frame.x + frame.width >= from + span - NEAR;
      const isInside = frame.y >= top && frame.x >= from - NEAR && frame.x + frame.width <= from + span + NEAR;
      if (frame.width === 0 || !isAbove && !isInside) {
        frame.g.style.display = 'none';
        continue;
      }
      const x = isAbove ? 0 : Math.max(0, (frame.x - from) / span * 100);
      const width = isAbove ? 100 : Math.min(100, frame.width / span * 100);
      frame.g.style.display = '';
      frame.g.classList.toggle('above', isAbove);
      frame.rect.setAttribute('x', x + '%');
      frame.rect.setAttribute('width', width + '%');
      write(frame, x, Math.floor((width / 100 * pixels - 2 * GAP) / LETTER));
    }
    reset.hidden = !zoomed;
  }

  // Writes as much of a frame's name as fits.
  function write(frame, x, room) {
    if (room < 3) {
      if (frame.text) frame.text.textContent = '';
      return;
    }
    if (!frame.text) {
      frame.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      frame.text.setAttribute('dx', GAP);
      frame.text.setAttribute('y', frame.y + 13);
      frame.g.appendChild(frame.text);
    }
    frame.text.setAttribute('x', x + '%');
    const name = frame.name.length <= room ? frame.name : frame.short || frame.name;
    frame.text.textContent = name.length <= room ? name : name.slice(0, room - 1) + '…';
  }

  function zoom(frame) {
    zoomed = frame && frame.y > 0 ? frame : null;
    layOut();
    tellMatches();
  }

  // Shows what waited, or hides it.
  function show(isAll) {
    for (const frame of frames) {
      Object.assign(frame, frame.views[isAll && frame.views.length > 1 ? 1 : 0]);
      frame.g.querySelector('title').textContent = frame.title;
    }
    waiting.setAttribute('aria-checked', isAll);
    about.textContent = isAll ? about.dataset.all : ofWhatRan;
    tellWaiting();
    zoom(zoomed && zoomed.width > 0 ? zoomed : null);
    find();
  }

  function isShown() {
    return waiting.getAttribute('aria-checked') === 'true';
  }

  function tellWaiting() {
    const text = waiting.querySelector('text');
    text.textContent = text.dataset.what + (isShown() ? ': click to hide' : ', not shown: click to show');
  }

  function find() {
    const wanted = search.value;
    let isMatch = null;
    fault = '';
    if (wanted) {
      try {
        const regex = new RegExp(wanted, 'i');
        isMatch = (name) => regex.test(name);
      } catch (error) {
        fault = 'Not a regular expression (' + error.message.split(': ').pop() + '), searched as text. ';
        isMatch = (name) => name.toLowerCase().includes(wanted.toLowerCase());
      }
    }
    search.classList.toggle('broken', fault !== '');
    hits = isMatch ? frames.filter((frame) => frame.y > 0 && frame.width > 0 && isMatch(frame.name)) : [];
    const marked = new Set(hits);
    for (const frame of frames) frame.g.classList.toggle('hit', marked.has(frame));
    tellMatches();
  }

  // The part of what is shown that lies in or below a match; each counts once.
  function tellMatches() {
    if (!search.value) {
      matched.textContent = '';
      return;
    }
    const from = zoomed ? zoomed.x : 0, end = zoomed ? zoomed.x + zoomed.width : 100;
    let sum = 0, behind = from;
    for (const hit of hits.slice().sort((a, b) => a.x - b.x)) {
      const start = Math.max(hit.x, behind), stop = Math.min(hit.x + hit.width, end);
      if (stop > start) {
        sum += stop - start;
        behind = stop;
      }
    }
    matched.textContent = fault + 'Matched: ' + (sum / (end - from) * 100).toFixed(2) + ' %';
  }

  for (const frame of frames) {
    frame.g.addEventListener('click', () => zoom(frame));
    frame.g.addEventListener('mouseenter', () => { detail.textContent = frame.title; });
    frame.g.addEventListener('mouseleave', () => { detail.textContent = ' '; });
  }
  if (waiting) {
    const turn = () => show(!isShown());
    waiting.addEventListener('click', turn);
    waiting.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        turn();
      }
    });
    tellWaiting();
  }
  search.addEventListener('input', find);
  reset.addEventListener('click', () => zoom(null));
  window.addEventListener('resize', layOut);
  window.addEventListener('keydown', (event) => {
    if (event.key === '/' && event.target !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === 'Escape') {
      search.value = '';
      find();
      zoom(null);
    }
  });
  page.setAttribute('width', '100%');
  page.classList.add('zoomable');
  layOut();
});
