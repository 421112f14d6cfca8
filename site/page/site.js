// The page: takes files, gives tasks to workers, and shows or saves what they make.

const place = (id) => document.getElementById(id);
const VIEWS = ['start', 'several', 'work'];

// The program, compiled once; a promise of it.
let program = null;
// The files of the page that is shown, and the page.
let shown = null;

function show(view) {
  for (const name of VIEWS) place(name).hidden = name !== view;
  const is_result = view === 'result';
  place('bar').hidden = place('result').hidden = !is_result;
  document.documentElement.dataset.view = view;
}

// Shows the page of a trace; without one, the place for files.
function go_back() {
  show(shown ? 'result' : 'start');
}

function show_failure(text) {
  go_back();
  for (const id of ['failure', 'refused']) {
    place(id).textContent = text;
    place(id).hidden = false;
  }
}

function hide_failure() {
  place('failure').hidden = place('refused').hidden = true;
}

// Returns the packed program: a part of this file, or a file beside it.
async function packed_program() {
  const own = place('program').textContent;
  if (own === '') return (await fetch('nettrace.wasm.gz')).body;
  return new Blob([Uint8Array.from(atob(own), (letter) => letter.charCodeAt(0))]).stream();
}

function load() {
  program ??= packed_program().then((packed) => {
    const bytes = packed.pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compileStreaming(new Response(bytes, { headers: { 'Content-Type': 'application/wasm' } }));
  });
  return program;
}

// Gives a task to a new worker, and returns what it made; null if the signal says that nobody wants it.
async function run(task, files, signal, progress) {
  const compiled = await load();
  if (signal?.aborted) return null;
  const address = URL.createObjectURL(new Blob([place('worker').textContent], { type: 'text/javascript' }));
  return new Promise((resolve) => {
    const worker = new Worker(address);
    const end = (result) => {
      worker.terminate();
      URL.revokeObjectURL(address);
      resolve(result);
    };
    signal?.addEventListener('abort', () => end(null));
    worker.onmessage = ({ data }) => ('code' in data ? end(data) : progress(data));
    worker.onerror = (event) => end({ failure: `the worker could not start: ${event.message}` });
    worker.postMessage({ program: compiled, files, task });
  }).then(checked);
}

// Returns what a worker made, or throws why it made nothing.
function checked(made) {
  if (made && typeof made.failure === 'string') throw new Error(made.failure);
  return made;
}

// Runs a task and shows how far it is. Returns what it made; null if it failed or was cancelled.
async function work(doing, task, files) {
  hide_failure();
  place('doing').textContent = doing;
  place('done').textContent = '';
  const bar = place('progress');
  bar.removeAttribute('value');
  const whole = files.reduce((sum, file) => sum + file.size, 0);
  const done = files.map(() => 0);
  const progress = (piece) => {
    done[piece.file] = piece.done;
    const sum = done.reduce((sum, bytes) => sum + bytes, 0);
    bar.max = whole || 1;
    bar.value = sum;
    place('done').textContent = sum < whole ? `${size(sum)} of ${size(whole)}` : `${size(whole)} read; writing`;
  };
  const cancelling = new AbortController();
  place('cancel').onclick = () => {
    cancelling.abort();
    go_back();
  };
  show('work');
  try {
    return await run(task, files, cancelling.signal, progress);
  } catch (error) {
    show_failure(error.message);
    return null;
  }
}

async function open(doing, name, task, files) {
  const made = await work(doing, task, files);
  if (!made) return;
  const page = new Blob([made.result], { type: 'text/html' });
  shown = { files, page, name, address: URL.createObjectURL(page) };
  place('shown').textContent = files.map((file) => file.name).join(', ');
  place('figures').textContent = `made in ${(made.milliseconds / 1000).toFixed(1)} s with ${size(made.memory_bytes)} of memory, here`;
  const bar = place('bar').dataset;
  [bar.milliseconds, bar.memory, bar.code] = [made.milliseconds, made.memory_bytes, made.code];
  place('other').hidden = files.length > 1;
  show('result');
  place('result').src = shown.address;
  document.title = `${files.map((file) => file.name).join(', ')} – nettrace`;
}

function open_one(file) {
  return open(`Reading ${file.name}`, `${stem(file.name)}.html`, 'page', [file]);
}

function take(files) {
  hide_failure();
  if (files.length === 1) open_one(files[0]);
  if (files.length > 1) choose(files);
}

// Shows several files: which are old, which are new, or one to be opened.
function choose(files) {
  const sorted = [...files].sort((one, other) => one.lastModified - other.lastModified || one.name.localeCompare(other.name));
  const rows = sorted.map((file, at) => {
    const row = document.createElement('tr');
    const side = document.createElement('select');
    side.ariaLabel = `side of ${file.name}`;
    side.append(new Option('old', 'old', at === 0, at === 0), new Option('new', 'new', at > 0, at > 0));
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Open';
    button.onclick = () => open_one(file);
    for (const content of [file.name, size(file.size), side, button]) row.insertCell().append(content);
    return { file, side, row };
  });
  place('sides').replaceChildren(...rows.map((one) => one.row));
  place('compare').onclick = () => {
    const of_side = (side) => rows.filter((one) => one.side.value === side).map((one) => one.file);
    const old = of_side('old');
    open('Comparing', 'diff.html', { diff: old.length }, [...old, ...of_side('new')]);
  };
  show('several');
}

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function save_as(format) {
  const { files } = shown;
  const made = await work(`Writing ${format.name} of ${files[0].name}`, { convert: format.name }, files);
  if (!made) return;
  save(made.result, `${stem(files[0].name)}.${format.extension}`);
  go_back();
}

// Returns a file's name without what says what kind of file it is.
function stem(name) {
  return name.replace(/\.(gz|zst)$/, '').replace(/\.(nettrace|netperf|gcdump)$/, '');
}

function size(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit < 3; unit++) bytes /= 1024;
  return `${unit ? bytes.toFixed(1) : bytes} ${['B', 'KiB', 'MiB', 'GiB'][unit]}`;
}

async function begin() {
  place('choose').onclick = () => place('files').click();
  place('files').onchange = () => take([...place('files').files]);
  for (const button of document.querySelectorAll('.again')) {
    button.onclick = () => {
      place('files').value = '';
      if (shown) URL.revokeObjectURL(shown.address);
      place('result').removeAttribute('src');
      shown = null;
      hide_failure();
      show('start');
    };
  }
  place('save').onclick = () => save(shown.page, shown.name);
  place('formats').onchange = () => {
    const at = place('formats').selectedIndex;
    place('formats').selectedIndex = 0;
    save_as(formats[at - 1]);
  };
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('over');
  });
  addEventListener('dragleave', () => document.body.classList.remove('over'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    take([...event.dataTransfer.files]);
  });
  place('offline').hidden = place('program').textContent !== '';
  show('start');
  // The program is loaded while people look for their file.
  const made = await run('formats', []);
  const formats = JSON.parse(await made.result.text());
  place('formats').append(...formats.map((format) => new Option(`${format.name}: ${format.about}`, format.name)));
  document.documentElement.dataset.ready = '';
}

begin().catch((error) => show_failure(`the program could not be loaded: ${error.message}`));
