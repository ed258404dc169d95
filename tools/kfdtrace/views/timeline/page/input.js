// SPDX-License-Identifier: GPL-2.0
// Mouse, keys, buttons; what is told of where the pointer is.

const MIN_RANGE = 100;	// ns
const STATES = [MAPPED, PREEMPTED, EVICTED, PARKED, THROTTLED];
const before = [];	// views to go back to
let waiting = false;
let immediate = false;	// draw at once: for checks

function draw() {
	waiting = false;
	const from = performance.now(), marks = ticks();

	drawn = { lines: 0, spans: 0, rects: 0 };
	overviewDraw();
	axisDraw(marks);
	rowsDraw(marks);
	loadDraw(marks);
	drawn.ms = performance.now() - from;
}

function redraw() {
	if (immediate)
		draw();
	else if (!waiting)
		requestAnimationFrame(draw);
	waiting = !immediate;
}

// Never past the ends by more than a bit, never nothing.
function viewSet(from, to, remember) {
	const most = end * 1.02, range = Math.min(Math.max(to - from, MIN_RANGE), Math.max(most, MIN_RANGE));
	const start = Math.min(Math.max(from, -(most - end)), Math.max(most - range, 0));

	if (remember)
		before.push([view.from, view.to]);
	view.from = start;
	view.to = start + range;
	aboutCheck();
	addressKeep();
	redraw();
}

const zoom = (factor, at) => viewSet(at - (at - view.from) * factor, at + (view.to - at) * factor);
const middle = () => (view.from + view.to) / 2;
const move = part => viewSet(view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);
const all = () => viewSet(0, end, true);

function spanZoom(from, to) {
	const margin = Math.max((to - from) * 0.3, MIN_RANGE);

	viewSet(from - margin, to + margin, true);
}

function filterSet(text) {
	view.filter = text;
	byId('filter').value = text;
	layoutMake();
	addressKeep();
	redraw();
}

function fold(list, folded) {
	for (const process of list)
		process.folded = folded ?? !process.folded;
	layoutMake();
	redraw();
}

// The line at a y of the page's chart, and what is told there.
function lineAt(y) {
	const scroll = byId('scroll'), inside = y - AXIS_HEIGHT;

	if (inside < 0 || inside >= scroll.clientHeight)
		return null;
	return layout.find(line => inside + scroll.scrollTop >= line.y && inside + scroll.scrollTop < line.y + line.height) ?? null;
}

function spansAt(spans, from, to) {
	const found = [];

	for (const kind of [MAPPED, PREEMPTED, THROTTLED, EVICTED, PARKED, UNKNOWN, ALIVE])
		for (let i = above(spans[kind].to, from); i < spans[kind].from.length && spans[kind].from[i] < to; i++)
			found.push({ kind, from: spans[kind].from[i], to: spans[kind].to[i] });
	return found;
}

function queueText(line, t, pixel) {
	const exact = spansAt(line.row.spans, t, t), around = spansAt(line.row.spans, t - pixel / 2, t + pixel / 2);
	const states = around.filter(span => span.kind !== ALIVE && span.kind !== UNKNOWN);

	if (states.length > 2) {
		const share = kind => states.filter(span => span.kind === kind).reduce((sum, span) =>
			sum + Math.min(span.to, t + pixel / 2) - Math.max(span.from, t - pixel / 2), 0) / pixel;

		return { text: [`${states.length} spans in this pixel (${duration(pixel)}): zoom in to see them`,
				`${queueName(line.row)}, ${processName(line.process)}`,
				...STATES.filter(kind => kind !== THROTTLED || share(kind)).map(kind => `${KIND_NAMES[kind]} ${(100 * share(kind)).toFixed(1)} %`)].join('\n') };
	}
	const span = exact.find(one => one.kind !== ALIVE) ?? states[0] ?? around[0];
	return span ? { text: spanText(line.row, span.kind, span.from, span.to), span } : null;
}

function processText(process, t, pixel) {
	const near = ts => Math.abs(ts - t) <= 5 * pixel;
	const wake = process.wakes.find(near), change = process.prios.find(one => near(one.ts));
	const preemption = process.preempting.find(one => one.from <= t + pixel && one.to >= t - pixel);

	if (change) {
		const prio = value => value < 0 ? 'none' : `${value} ${bandOf(value)}`;

		return { text: `priority ${prio(change.old)} \u2192 ${prio(change.prio)}, set by PID ${change.by}\n` +
			`${processName(process)}\nat ${moment(change.ts)}` };
	}
	if (wake !== undefined && !(preemption && preemption.from < t - 2 * pixel))
		return { text: `doorbell: the process had work after there was none\n${processName(process)}\nat ${moment(wake)}` +
			(preemption ? `\n${preemptingText(preemption)}` : '') };
	if (preemption)
		return { text: preemptingText(preemption), span: preemption };
	return null;
}

// { text, span } of what is at a place of the chart, or null
function toldAt(x, y) {
	const t = timeOf(x), pixel = (view.to - view.from) / plotWidth(), line = lineAt(y);
	const load = y - AXIS_HEIGHT - byId('scroll').clientHeight;

	if (x > NAMES_WIDTH + plotWidth())
		return null;
	if (x < NAMES_WIDTH)
		return line?.kind === 'process' ? { text: `${processName(line.process)}\npriority ${prioText(line.process) || 'not known'}` +
			`\n${gpuName(line.process.gpu)}\n${line.process.rows.length} queues` } :
		       line?.kind === 'queue' ? { text: `${queueName(line.row)}, ${rowPrio(line.row)}\n${processName(line.process)}` } : null;
	const gap = head.gaps.find(one => one.from <= t + 1.5 * pixel && one.to >= t - 1.5 * pixel);
	if (gap)
		return { text: gapText(gap) };
	if (load >= 0 && gpus[Math.floor(load / loadHeight())])
		return { text: loadText(gpus[Math.floor(load / loadHeight())], t) };
	if (line?.kind === 'queue')
		return queueText(line, t, pixel);
	return line?.kind === 'process' ? processText(line.process, t, pixel) : null;
}

// A note, and what it is about: a time, and a line of the chart if it is of one. It leaves with that.
function detailSet(text, about) {
	byId('detail').textContent = text.replaceAll('\n', ' \u00b7 ');
	view.about = text && about ? about : null;
}

function aboutCheck() {
	const { about } = view;

	if (!about || (about.to >= view.from && about.from <= view.to && (!about.line || layout.some(line => sameLine(line, about.line)))))
		return;
	detailSet('');
	view.spot = null;
	tipShow(null);
}

const ALWAYS = { from: -Infinity, to: Infinity };

// How long spans were within a time.
function within({ from, to }, start, stop) {
	let sum = 0;

	for (let i = above(to, start); i < from.length && from[i] < stop; i++)
		sum += Math.min(to[i], stop) - Math.max(from[i], start);
	return sum;
}

// What was selected, measured: shares of the processes that are shown.
function selectTell() {
	const [from, to] = view.select, share = ns => `${(100 * ns / Math.max(to - from, 1)).toFixed(1)} %`;
	const begun = preemptions.filter(one => one.from < to && one.to > from).length;
	const here = layout.filter(line => line.kind === 'process').map(line => line.process);
	const parts = here.slice(0, 6).map(process => `${processName(process)}: ` + STATES
		.map(kind => [kind, within(processSpans(process)[kind], from, to)]).filter(([kind, ns]) => ns || kind === MAPPED)
		.map(([kind, ns]) => `${KIND_NAMES[kind]} ${share(ns)}`).join(', '));

	if (here.length > 6)
		parts.push(`and ${here.length - 6} more processes`);
	detailSet([`selected: ${duration(to - from)}, from ${moment(from)} to ${moment(to)}`, count(begun, 'preemption'), ...parts].join('\n'),
		  { from, to });
	byId('selection').hidden = false;
}

function selectSet(from, to) {
	view.select = [Math.max(Math.min(from, to), 0), Math.min(Math.max(from, to), end)];
	selectTell();
	addressKeep();
	redraw();
}

function selectClear() {
	view.select = null;
	byId('selection').hidden = true;
	addressKeep();
}

const selectZoom = () => view.select && viewSet(...view.select, true);

function tipShow(told, x, y) {
	const tip = byId('tip');

	tip.hidden = !told;
	if (!told)
		return;
	tip.textContent = told.text;
	tip.style.left = `${Math.max(Math.min(x + 14, width() - tip.offsetWidth - 6), 6)}px`;
	tip.style.top = `${y + 18 + tip.offsetHeight > byId('chart').clientHeight ? Math.max(y - tip.offsetHeight - 10, 0) : y + 18}px`;
}

function pick(line) {
	const scroll = byId('scroll');

	view.picked = line;
	view.spot = null;
	if (line.y < scroll.scrollTop)
		scroll.scrollTop = line.y;
	if (line.y + line.height > scroll.scrollTop + scroll.clientHeight)
		scroll.scrollTop = line.y + line.height - scroll.clientHeight;
	detailSet(line.kind === 'gpu' ? gpuName(line.gpu) : line.kind === 'process' ? `${processName(line.process)}, priority ${prioText(line.process)}` :
		`${queueName(line.row)}, ${processName(line.process)}`, { ...ALWAYS, line });
	redraw();
}

function pickMove(by) {
	const at = view.picked ? layout.findIndex(line => sameLine(line, view.picked)) : by > 0 ? -1 : layout.length;
	const line = layout[Math.min(Math.max(at + by, 0), layout.length - 1)];

	if (line)
		pick(line);
}

// The next or previous span of the picked queue, brought into view.
function spanMove(by) {
	if (view.picked?.kind !== 'queue')
		return;
	const spans = spansAt(view.picked.row.spans, -1, end + 1).filter(span => span.kind !== ALIVE).sort((a, b) => a.from - b.from);
	const now = view.spot?.from ?? (by > 0 ? view.from - 1 : view.to);
	const span = by > 0 ? spans.find(one => one.from > now) : spans.filter(one => one.from < now).pop();

	if (!span)
		return;
	const text = spanText(view.picked.row, span.kind, span.from, span.to);
	view.spot = span;
	if (span.from < view.from || span.to > view.to)
		viewSet(span.from - (view.to - view.from) / 3, span.from + (view.to - view.from) * 2 / 3, true);
	detailSet(text, { ...span, line: view.picked });
	const y = view.picked.y - byId('scroll').scrollTop + AXIS_HEIGHT;
	tipShow({ text }, Math.max(xOf(span.from), NAMES_WIDTH), y);
	redraw();
}

function preemptionMove(by) {
	const now = view.preemption?.from ?? (by > 0 ? view.from - 1 : view.to);
	const here = new Set(layout.filter(line => line.kind === 'process').map(line => line.process));
	const list = preemptions.filter(one => here.has(one.process));
	const next = by > 0 ? list.find(one => one.from > now) : list.filter(one => one.from < now).pop();

	if (!next)
		return;
	view.preemption = next;
	spanZoom(next.from, next.to);
	detailSet(preemptingText(next), next);
}

// Times count from the first event, or are those of the recording's clock.
function clockSet(clock) {
	view.clock = clock;
	byId('clock').setAttribute('aria-pressed', String(clock));
	tipShow(null);
	if (view.select)
		selectTell();
	addressKeep();
	redraw();
}

// Seconds of the address, of either count: no recording is as long as its clock is old, but for one from boot on.
function timeWanted(text) {
	const ns = Number(text) * 1e9;

	return view.clock || (ns > end && ns >= head.first_ns) ? ns - head.first_ns : ns;
}

// Where the pointer is, if it is over the plot, as in other viewers.
const aim = () => view.pointer && view.pointer.x >= NAMES_WIDTH && view.pointer.x <= NAMES_WIDTH + plotWidth() ? timeOf(view.pointer.x) : middle();

const keys = {
	'w': () => zoom(0.7, aim()), 's': () => zoom(1 / 0.7, aim()), 'a': () => move(-0.15), 'd': () => move(0.15),
	'm': () => view.spot && selectSet(view.spot.from, view.spot.to), 'z': selectZoom,
	'+': () => zoom(0.5, middle()), '=': () => zoom(0.5, middle()), '-': () => zoom(2, middle()),
	'ArrowLeft': () => move(-0.2), 'ArrowRight': () => move(0.2), 'ArrowUp': () => pickMove(-1), 'ArrowDown': () => pickMove(1),
	'PageUp': () => pickMove(-20), 'PageDown': () => pickMove(20),
	'Home': () => viewSet(0, view.to - view.from), 'End': () => viewSet(end - (view.to - view.from), end),
	'0': all, 'r': all, 'p': () => preemptionMove(-1), 'n': () => preemptionMove(1), ',': () => spanMove(-1), '.': () => spanMove(1),
	'b': () => before.length && viewSet(...before.pop()), 'f': () => fold(processes, !processes.some(process => process.folded)),
	't': () => clockSet(!view.clock),
	'/': () => byId('filter').focus(), '?': () => byId('help').click(),
	'Enter': () => view.select ? selectZoom() : view.picked?.kind === 'process' ? fold([view.picked.process]) : view.spot && spanZoom(view.spot.from, view.spot.to),
	'Escape': () => {
		view.picked = view.spot = null;
		selectClear();
		tipShow(null);
		detailSet('');
		redraw();
	},
};

function keysListen() {
	document.addEventListener('keydown', event => {
		const act = keys[event.key] ?? keys[event.key.toLowerCase()];

		// a button has its own Enter and the filter all keys
		if (!act || event.ctrlKey || event.altKey || event.metaKey || event.target === byId('filter') ||
		    (event.key === 'Enter' && event.target.closest?.('button')))
			return;
		event.preventDefault();
		act();
	});
	byId('filter').addEventListener('input', () => filterSet(byId('filter').value));
	byId('filter').addEventListener('keydown', event => {
		if (event.key === 'Escape' || event.key === 'Enter') {
			if (event.key === 'Escape')
				filterSet('');
			byId('chart').focus();
		}
	});
	const buttons = { selection: 'z', 'zoom-in': '+', 'zoom-out': '-', reset: '0', previous: 'p', next: 'n', clock: 't', fold: 'f' };
	for (const [id, key] of Object.entries(buttons))
		byId(id).addEventListener('click', () => keys[key]());
	byId('help').addEventListener('click', () => {
		byId('keys').hidden = !byId('keys').hidden;
		byId('help').setAttribute('aria-expanded', String(!byId('keys').hidden));
		resized();
	});
}

function place(event) {
	const box = byId('chart').getBoundingClientRect();

	return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function mouseListen() {
	const chart = byId('chart');
	let drag = null;

	chart.addEventListener('wheel', event => {
		const { x } = place(event), unit = event.deltaMode === 1 ? 16 : 1;
		const sideways = event.shiftKey ? event.deltaX || event.deltaY : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;

		if (x < NAMES_WIDTH || x > NAMES_WIDTH + plotWidth() || event.altKey)
			return;
		event.preventDefault();
		if (sideways)
			move(sideways * unit / plotWidth());
		else
			zoom(2 ** (Math.max(Math.min(event.deltaY * unit, 400), -400) / 200), timeOf(x));
	}, { passive: false });
	chart.addEventListener('mousedown', event => {
		const at = place(event);

		if (event.button > 1 || at.x < NAMES_WIDTH || at.x > NAMES_WIDTH + plotWidth())
			return;
		drag = { ...at, from: view.from, to: view.to, moves: event.shiftKey || event.button === 1 };
	});
	window.addEventListener('mousemove', event => {
		const at = place(event), inside = chart.contains(event.target);

		view.pointer = inside ? at : null;
		if (drag?.moves) {
			const by = (drag.x - at.x) / plotWidth() * (drag.to - drag.from);

			viewSet(drag.from + by, drag.to + by);
		} else if (drag && Math.abs(at.x - drag.x) > 3) {
			view.select = [timeOf(drag.x), timeOf(at.x)].sort((a, b) => a - b);
			drag.selects = true;
			tipShow({ text: duration(Math.abs(timeOf(at.x) - timeOf(drag.x))) }, at.x, at.y);
		}
		if (!drag)
			tipShow(inside ? toldAt(at.x, at.y) : null, at.x, at.y);
		if (inside || drag)
			redraw();
	});
	window.addEventListener('mouseup', event => {
		if (drag?.selects) {
			const plot = x => Math.min(Math.max(x, NAMES_WIDTH), NAMES_WIDTH + plotWidth());

			tipShow(null);
			selectSet(timeOf(plot(drag.x)), timeOf(plot(place(event).x)));
		} else if (chart.contains(event.target)) {
			const at = place(event), line = lineAt(at.y), told = toldAt(at.x, at.y);

			if (line && at.x < NAMES_WIDTH && line.kind === 'process' && event.type === 'mouseup' && event.button === 0)
				fold([line.process]);
			else if (line && !drag?.moves)
				pick(line);
			view.spot = told?.span ?? null;
			if (told && at.x >= NAMES_WIDTH)
				detailSet(told.text, told.span ? { from: told.span.from, to: told.span.to, line } : { from: timeOf(at.x), to: timeOf(at.x), line });
		}
		drag = null;
		redraw();
	});
	chart.addEventListener('dblclick', event => {
		const at = place(event), told = toldAt(at.x, at.y);

		if (told?.span)
			spanZoom(told.span.from, told.span.to);
	});
	chart.addEventListener('mouseleave', () => {
		view.pointer = null;
		tipShow(null);
		redraw();
	});
	byId('scroll').addEventListener('scroll', redraw);
}

// One finger moves, two zoom; up and down the browser scrolls.
function touchListen() {
	const chart = byId('chart');
	let last = null;
	const read = event => {
		const xs = [...event.touches].map(touch => touch.clientX - chart.getBoundingClientRect().left);

		return { nr: xs.length, x: xs.reduce((sum, x) => sum + x, 0) / Math.max(xs.length, 1), spread: Math.abs((xs[1] ?? xs[0]) - xs[0]) };
	};

	chart.addEventListener('touchstart', event => { last = read(event); }, { passive: true });
	chart.addEventListener('touchmove', event => {
		const now = read(event);

		if (last?.nr === now.nr) {
			if (now.nr === 2 && now.spread > 10 && last.spread > 10)
				zoom(last.spread / now.spread, timeOf(now.x));
			move((last.x - now.x) / plotWidth());
			if (now.nr === 2 && event.cancelable)
				event.preventDefault();
		}
		last = now;
	}, { passive: false });
	chart.addEventListener('touchend', event => { last = event.touches.length ? read(event) : null; });
}

function resized() {
	NAMES_WIDTH = Math.round(Math.min(MAX_NAMES_WIDTH, Math.max(width() * 0.28, 140)));
	byId('load').style.height = `${Math.max(loadHeight() * gpus.length, 1)}px`;
	layoutMake();
	redraw();
}

function themeListen(forced) {
	const dark = window.matchMedia('(prefers-color-scheme: dark)');
	const set = () => {
		document.documentElement.dataset.theme = forced ?? (dark.matches ? 'dark' : 'light');
		themeRead();
		redraw();
	};

	dark.addEventListener('change', set);
	set();
}

// In the address after #: from and to in seconds, of either count, time=clock, filter, select=FROM,TO, theme (light, dark), test (see check.js).
function start() {
	const wanted = new URLSearchParams(location.hash.slice(1));

	read();
	document.title = `${head.title} \u2013 kfdtrace timeline`;
	byId('title').textContent = head.title;
	byId('facts').textContent = facts();
	byId('simulated').hidden = head.simulated === false;
	if (head.simulated === null)
		byId('simulated').textContent = 'The recording does not contain whether the GPU was simulated';
	byId('driver').hidden = head.driver !== 'stock';
	for (const id of ['previous', 'preemption', 'next'])
		byId(id).hidden = head.driver === 'stock';
	byId('warning').textContent = warnings();
	byId('warning').hidden = !warnings();
	immediate = wanted.has('test');
	view.to = end;
	view.clock = wanted.get('time') === 'clock';
	byId('clock').setAttribute('aria-pressed', String(view.clock));
	themeListen(wanted.get('theme'));
	resized();
	addressRead();
	keysListen();
	mouseListen();
	touchListen();
	overviewListen();
	window.addEventListener('hashchange', () => location.hash === addressOwn || addressRead());
	const observer = new ResizeObserver(resized);

	observer.observe(byId('chart'));
	observer.observe(byId('scroll'));
	resized();
	if (wanted.has('test'))
		check(JSON.parse(wanted.get('test') || '[]'));
}
