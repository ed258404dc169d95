// SPDX-License-Identifier: GPL-2.0
// What is on the canvases: axis, rows, load. Drawn anew each time, but only rows in view, and what is
// narrower than a pixel is summed up in columns: a frame costs what is in view, not what was recorded.

const AXIS_HEIGHT = 26, SHARE_WIDTH = 48, MAX_NAMES_WIDTH = 270;
let NAMES_WIDTH = MAX_NAMES_WIDTH;	// less where there is little room
const HEIGHTS = { gpu: 24, process: 24, queue: 20 };
const MIN_ARROW_ROOM = 24;

const view = { from: 0, to: 1, filter: '', picked: null, select: null, pointer: null, clock: false, about: null };
let layout = [];	// lines of the chart: what, and where
let height = 0;		// of all of them
let drawn = {};		// what the last frame did

const contextOf = id => byId(id).getContext('2d');
const narrow = () => NAMES_WIDTH < 180;
const width = () => byId('scroll').clientWidth;
const plotWidth = () => Math.max(width() - NAMES_WIDTH - SHARE_WIDTH, 50);
const xOf = t => NAMES_WIDTH + (t - view.from) / (view.to - view.from) * plotWidth();
const timeOf = x => view.from + (x - NAMES_WIDTH) / plotWidth() * (view.to - view.from);

function shown(row, words) {
	const { process } = row;
	const text = `${process.command} ${queueName(row)} ${gpuName(process.gpu)} ${bandOf(process.effective)}`.toLowerCase();

	return words.every(word => /^\d+$/.test(word) ? Number(word) === process.pid || Number(word) === process.inner_pid :
		text.includes(word));
}

function layoutMake() {
	const words = view.filter.toLowerCase().split(/\s+/).filter(word => word);
	let y = 0, gpu = null, nr = 0;
	const add = (kind, what) => {
		layout.push({ kind, y, height: HEIGHTS[kind], ...what });
		y += HEIGHTS[kind];
	};

	layout = [];
	for (const process of processes) {
		const own = process.rows.filter(row => shown(row, words));

		if (!own.length)
			continue;
		if (process.gpu !== gpu) {
			gpu = process.gpu;
			if (gpus.length > 1)
				add('gpu', { gpu });
		}
		add('process', { process, own });
		nr += own.length;
		if (!process.folded)
			for (const row of own)
				add('queue', { row, process });
	}
	height = y;
	byId('sheet').style.height = `${Math.max(height, byId('scroll').clientHeight)}px`;
	byId('matches').textContent = words.length ? `${nr} of ${rows.length} queues` : '';
	if (view.picked && !layout.some(line => sameLine(line, view.picked)))
		view.picked = null;
	aboutCheck();
}

const sameLine = (a, b) => a.kind === b.kind && (a.row ?? a.process ?? a.gpu) === (b.row ?? b.process ?? b.gpu);

function wakeDraw(context, x, y) {
	context.fillStyle = theme.text;
	context.beginPath();
	context.moveTo(x, y - 8);
	context.lineTo(x + 4, y);
	context.lineTo(x - 4, y);
	context.fill();
}

function prioDraw(context, x, y) {
	context.fillStyle = theme.alarm;
	context.beginPath();
	context.moveTo(x, y - 5);
	context.lineTo(x + 5, y);
	context.lineTo(x, y + 5);
	context.lineTo(x - 5, y);
	context.fill();
}

function canvasSize(id, high) {
	const canvas = byId(id), ratio = window.devicePixelRatio || 1, wide = width();

	if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
		canvas.width = Math.round(wide * ratio);
		canvas.height = Math.round(high * ratio);
		canvas.style.width = `${wide}px`;
		canvas.style.height = `${high}px`;
	}
	const context = canvas.getContext('2d');
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, wide, high);
	context.textBaseline = 'middle';
	context.font = '12px system-ui, "DejaVu Sans", sans-serif';
	return context;
}

function fitted(context, text, room) {
	if (context.measureText(text).width <= room)
		return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;

		if (context.measureText(`${text.slice(0, middle)}\u2026`).width <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low > 2 ? `${text.slice(0, low)}\u2026` : '';
}

// Steps of 1, 2 or 5 that leave room for their labels. Three decimals at most: finer ones count from a time
// that is told at the left.
// Where zero is: at the first event, or at that of the recording's clock.
const shift = () => view.clock ? head.first_ns : 0;

function ticks() {
	const range = view.to - view.from, want = Math.max(range / Math.max(plotWidth() / 110, 1), 1);
	if (want > 50e9)
		return ticksOfHours(want);
	const power = 10 ** Math.floor(Math.log10(want));
	const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= want);
	const from = view.from + shift(), to = view.to + shift();
	const whole = UNITS.find(entry => to >= entry[1]) ?? UNITS[3], near = step * 1000 >= whole[1];
	const [unit, size] = near ? whole : UNITS.find(entry => step * 1000 >= entry[1]) ?? UNITS[3];
	const base = near ? 0 : Math.max(Math.floor(from / (size * 10)) * size * 10, 0);
	const decimals = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)), list = [];

	for (let nr = Math.ceil(from / step); nr * step <= to; nr++)
		list.push({ t: nr * step - shift(), label: `${near ? '' : '+'}${((nr * step - base) / size).toFixed(decimals)} ${unit}` });
	return { base: near ? timeName() : `${(base / 1e9).toFixed(9).replace(/0{1,8}$/, '')} s`, list };
}

function ticksOfHours(want) {
	const steps = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map(seconds => seconds * 1e9);
	const step = steps.find(size => size >= want) ?? Math.ceil(want / 86400e9) * 86400e9, list = [];

	for (let nr = Math.ceil((view.from + shift()) / step); nr * step <= view.to + shift(); nr++) {
		const minutes = Math.round(Math.abs(nr) * step / 60e9);

		list.push({ t: nr * step - shift(), label: `${nr < 0 ? '-' : ''}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')} h` });
	}
	return { base: timeName(), list };
}

function axisDraw(marks) {
	const context = canvasSize('axis', AXIS_HEIGHT);

	context.fillStyle = theme.quiet;
	context.textAlign = 'right';
	context.fillText(marks.base, NAMES_WIDTH - 10, AXIS_HEIGHT / 2 - 2);
	if (!narrow())
		context.fillText('mapped', width() - 4, AXIS_HEIGHT / 2 - 2);
	context.textAlign = 'center';
	for (const { t, label } of marks.list) {
		const x = xOf(t), room = context.measureText(label).width / 2 + 2;

		context.fillStyle = theme.line;
		context.fillRect(Math.round(x), AXIS_HEIGHT - 6, 1, 6);
		context.fillStyle = theme.text;
		if (x + room <= NAMES_WIDTH + plotWidth())
			context.fillText(label, Math.max(x, NAMES_WIDTH + room), AXIS_HEIGHT / 2 - 2);
	}
	context.fillStyle = theme.line;
	context.fillRect(0, AXIS_HEIGHT - 1, width(), 1);
	if (view.select)
		selectDraw(context);
}

// Spans of all kinds of one line; returns how long it was mapped in the view.
function spansDraw(context, process, spans, y, high) {
	const wide = plotWidth(), scale = wide / (view.to - view.from), columns = Math.ceil(wide);
	const shares = Array(KINDS).fill(null), styles = [theme.mapped, patterns.preempted, patterns.evicted, null, theme.parked, null,
		patterns.throttled];
	let mapped = 0;

	aliveDraw(context, spans[ALIVE], y + high / 2 - 1, scale);
	unknownDraw(context, spans[UNKNOWN], y + high / 2 - 1, scale);
	for (const kind of [PARKED, EVICTED, THROTTLED, PREEMPTED, MAPPED]) {
		const { from, to } = spans[kind], first = above(to, view.from);
		let total = 0, i;

		if (first === from.length || from[first] >= view.to)
			continue;
		const share = shares[kind] = new Float32Array(columns + 1);
		for (i = first; i < from.length && from[i] < view.to; i++) {
			const start = Math.max(from[i], view.from), stop = Math.min(to[i], view.to);
			const x0 = (start - view.from) * scale, x1 = (stop - view.from) * scale;
			const left = Math.ceil(x0), right = Math.floor(x1);

			total += stop - start;
			// whole pixels are filled, parts of pixels add up
			if (right < left) {
				share[right] += x1 - x0;
				continue;
			}
			share[left > 0 ? left - 1 : 0] += left - x0;
			share[right] += x1 - right;
			if (right === left)
				continue;
			context.fillStyle = styles[kind];
			context.fillRect(NAMES_WIDTH + left, y, right - left, high);
			drawn.rects++;
			if (right - left > 46)
				spanLabel(context, kind, labelsOf(process, kind, from[i], to[i]), left, right, y, high);
		}
		drawn.spans += i - first;
		if (kind === MAPPED)
			mapped = total;
	}
	columnsDraw(context, shares, styles, columns, y, high);
	return mapped;
}

function columnsDraw(context, shares, styles, columns, y, high) {
	const tall = share => share > 0 ? Math.max(3, Math.min(share, 1) * high) : 0;

	if (shares[MAPPED]) {
		context.fillStyle = styles[MAPPED];
		for (let x = 0; x < columns; x++)
			if (shares[MAPPED][x] > 0.002) {
				context.fillRect(NAMES_WIDTH + x, y + high - tall(shares[MAPPED][x]), 1, tall(shares[MAPPED][x]));
				drawn.rects++;
			}
	}
	for (const kind of [PARKED, THROTTLED, PREEMPTED, EVICTED])
		if (shares[kind]) {
			context.fillStyle = theme[`${KIND_NAMES[kind]}-stripe`] || theme[KIND_NAMES[kind]];
			for (let x = 0; x < columns; x++)
				if (shares[kind][x] > 0.002) {
					context.fillRect(NAMES_WIDTH + x, y, 1, tall(shares[kind][x]));
					drawn.rects++;
				}
		}
}

// The longest that fits is taken.
function labelsOf(process, kind, from, to) {
	const label = duration(to - from), taker = kind === PREEMPTED ? takerOf(process, from) : null;

	if (kind === MAPPED)
		return [label];
	if (kind === THROTTLED)
		return [`throttled ${throttlingShort(throttlingOf(process, from))}, ${label}`, `throttled ${label}`, label];
	return [...(taker ? [`preempted by ${taker.process?.command ?? 'PID'} ${taker.pid}, ${label}`] : []),
		`${KIND_NAMES[kind]} ${label}`, label];
}

function spanLabel(context, kind, labels, left, right, y, high) {
	const shorter = labels.find(choice => context.measureText(choice).width <= right - left - 8);

	if (!shorter)
		return;
	context.textAlign = 'center';
	const x = NAMES_WIDTH + (left + right) / 2, wide = context.measureText(shorter).width;
	if (kind !== MAPPED) {
		context.fillStyle = theme[KIND_NAMES[kind]];
		context.fillRect(x - wide / 2 - 3, y + 1, wide + 6, high - 2);
	}
	context.fillStyle = theme[kind === MAPPED ? 'on-mapped' : 'on-preempted'];
	context.fillText(shorter, x, y + high / 2 + 1);
}

// What a process did to others, its doorbells and priorities, in its own line.
function processDraw(context, process, y, high) {
	let last = -Infinity;

	let done = -Infinity;
	const wide = plotWidth(), scale = wide / (view.to - view.from), edge = NAMES_WIDTH + wide;
	const x = t => NAMES_WIDTH + (t - view.from) * scale;

	for (const preemption of process.preempting) {
		if (preemption.to < view.from || preemption.from > view.to)
			continue;
		const left = Math.max(x(preemption.from), NAMES_WIDTH, done);
		const right = Math.min(Math.max(x(preemption.to), x(preemption.from) + 1), edge);

		// it would be in a pixel that is drawn already
		if (right - left < 0.5)
			continue;
		done = right;
		context.fillStyle = theme.preempting;
		context.fillRect(left, y + 4, right - left, high - 8);
		drawn.rects++;
		if (right - left < 60)
			continue;
		const text = fitted(context, `preempts ${preemption.queues ?? '?'} queues: ${reasonText(preemption)}`, right - left - 10);
		if (text) {
			context.fillStyle = theme['on-preempting'];
			context.textAlign = 'left';
			context.fillText(text, left + 5, y + high / 2 + 1);
		}
	}
	for (let i = above(process.wakes, view.from); i < process.wakes.length && process.wakes[i] <= view.to; i++) {
		if (x(process.wakes[i]) - last < 3)
			continue;
		last = x(process.wakes[i]);
		wakeDraw(context, last, y + high - 1);
	}
	for (const change of process.prios)
		if (change.ts >= view.from && change.ts <= view.to)
			prioDraw(context, Math.max(xOf(change.ts), NAMES_WIDTH + 5), y + high / 2);
}

function lineDraw(context, line, y) {
	const right = NAMES_WIDTH + plotWidth();

	if (view.picked && sameLine(line, view.picked)) {
		context.fillStyle = theme.pick;
		context.fillRect(0, y, width(), line.height);
	} else if (line.kind !== 'queue') {
		context.fillStyle = line.kind === 'gpu' ? theme.bar : theme.row;
		context.fillRect(0, y, width(), line.height);
	}
	const middle = y + line.height / 2 + 1;
	context.textAlign = 'left';
	context.fillStyle = theme.text;
	if (line.kind === 'gpu') {
		context.font = context.font.replace(/^/, 'bold ');
		context.fillText(fitted(context, gpuName(line.gpu), width() - 20), 8, middle);
		context.font = context.font.replace('bold ', '');
		return;
	}
	let mapped;
	context.save();
	if (line.kind === 'process') {
		const whole = prioText(line.process), prio = narrow() ? whole.replace(/ .*\)$/, ')').replace(/ [a-z]+$/, '') : whole;
		const room = context.measureText(prio).width;

		context.textAlign = 'right';
		context.fillStyle = theme.quiet;
		context.fillText(prio, NAMES_WIDTH - 10, middle);
		context.textAlign = 'left';
		context.fillStyle = theme.text;
		context.fillText(line.process.folded ? '\u25b8' : '\u25be', 6, middle);
		context.font = context.font.replace(/^/, 'bold ');
		// the PID tells processes of the same name apart
		const pid = narrow() ? ` ${line.process.pid}` : '', name = narrow() ? line.process.command : processName(line.process);
		const most = NAMES_WIDTH - room - 38 - context.measureText(pid).width;
		context.fillText(fitted(context, name, most) + pid, 20, middle);
	} else {
		context.fillStyle = theme.quiet;
		context.fillText(fitted(context, narrow() ? queueName(line.row).replace('queue ', '') : queueName(line.row), NAMES_WIDTH - 50), narrow() ? 20 : 30, middle);
		context.textAlign = 'right';
		context.fillText(line.row.prio < 0 ? '' : `${line.row.prio}`, NAMES_WIDTH - 10, middle);
	}
	context.restore();
	context.save();
	context.beginPath();
	context.rect(NAMES_WIDTH, y, plotWidth(), line.height);
	context.clip();
	if (line.kind === 'process') {
		if (line.process.folded)
			mapped = spansDraw(context, line.process, processSpans(line.process), y + 6, line.height - 12);
		processDraw(context, line.process, y, line.height);
	} else {
		mapped = spansDraw(context, line.process, line.row.spans, y + 3, line.height - 6);
	}
	context.restore();
	drawn.lines++;
	if (mapped !== undefined) {
		context.textAlign = 'right';
		context.fillStyle = theme.quiet;
		context.fillText(`${(100 * mapped / (view.to - view.from)).toFixed(0)} %`, right + SHARE_WIDTH - 4, middle);
	}
}

function bandsDraw(context, high) {
	for (const gap of head.gaps) {
		const left = Math.max(xOf(gap.from), NAMES_WIDTH), right = Math.min(xOf(gap.to), NAMES_WIDTH + plotWidth());

		if (right < NAMES_WIDTH || left > NAMES_WIDTH + plotWidth())
			continue;
		const wide = Math.max(right - left, 5);
		context.fillStyle = patterns.lost;
		context.fillRect(left, 0, wide, high);
		context.fillStyle = theme.lost;
		context.fillRect(Math.round(left), 0, 1, high);
		context.fillRect(Math.round(left + wide) - 1, 0, 1, high);
	}
	if (view.select) {
		const [from, to] = view.select.map(t => Math.min(Math.max(xOf(t), NAMES_WIDTH), NAMES_WIDTH + plotWidth()));

		context.fillStyle = theme.select;
		context.globalAlpha = 0.22;
		context.fillRect(from, 0, to - from, high);
		context.globalAlpha = 1;
		for (const x of to > from ? [from, to - 1] : [])
			context.fillRect(Math.round(x), 0, 1, high);
	}
	if (view.pointer && view.pointer.x >= NAMES_WIDTH && view.pointer.x <= NAMES_WIDTH + plotWidth()) {
		context.fillStyle = theme.quiet;
		context.fillRect(Math.round(view.pointer.x), 0, 1, high);
	}
}

function gridDraw(context, marks, high) {
	context.fillStyle = theme.line;
	for (const { t } of marks.list)
		context.fillRect(Math.round(xOf(t)), 0, 1, high);
	context.fillRect(NAMES_WIDTH - 1, 0, 1, high);
	context.fillRect(NAMES_WIDTH + plotWidth(), 0, 1, high);
}

// From who preempts down or up to its victims; not where they would hide the rest.
function arrowsDraw(context, top, high) {
	const inView = preemptions.filter(preemption => preemption.from >= view.from && preemption.from <= view.to && preemption.process);

	if (inView.length * MIN_ARROW_ROOM > plotWidth())
		return;
	for (const preemption of inView) {
		const x = Math.round(xOf(preemption.from));
		const own = layout.find(line => line.kind === 'process' && line.process === preemption.process);
		const victims = layout.filter(line => line.kind === 'queue' && line.process.gpu === preemption.process.gpu &&
			line.process !== preemption.process && victimAt(line.row, preemption));

		if (!own || !victims.length)
			continue;
		const ys = victims.map(line => line.y + line.height / 2 - top), from = own.y + own.height / 2 - top;
		context.fillStyle = theme.preempting;
		context.strokeStyle = theme.page;
		context.globalAlpha = 0.5;
		context.fillRect(x, Math.min(from, ...ys), 1, Math.max(from, ...ys) - Math.min(from, ...ys));
		context.globalAlpha = 1;
		// a dot must not hide how short it was
		for (const y of xOf(preemption.to) - x > 8 ? ys : [])
			if (y > -10 && y < high + 10) {
				context.beginPath();
				context.arc(x + 0.5, y, 3, 0, 7);
				context.fill();
				context.stroke();
			}
	}
}

function victimAt(row, preemption) {
	const { from, to } = row.spans[PREEMPTED], i = above(to, preemption.from);

	return i < from.length && from[i] < preemption.to;
}

// Why there is nothing to see; empty if there is something, perhaps further down.
function emptyText() {
	if (!layout.length)
		return rows.length ? 'No queue matches the filter.' : 'This recording has no queue.';
	if (drawn.spans || drawn.rects)
		return '';
	const shown = new Set(layout.map(line => line.process));
	const spans = rows.filter(row => shown.has(row.process)).flatMap(row => row.spans).filter(({ from }) => from.length);
	const inView = ({ from, to }) => {
		const i = above(to, view.from);

		return i < from.length && from[i] < view.to;
	};

	if (!spans.length || spans.some(inView))
		return '';
	const first = spans.reduce((least, { from }) => Math.min(least, from[0]), Infinity);
	const last = spans.reduce((most, { to }) => Math.max(most, to[to.length - 1]), 0);
	return `${view.filter ? 'No queue that matches the filter' : 'No queue'} exists in this part of the recording. Queues exist\n` +
		`from ${moment(first)}\nto ${moment(last)}.\nPress 0 to show the whole recording.`;
}

function rowsDraw(marks) {
	const scroll = byId('scroll'), high = scroll.clientHeight, top = scroll.scrollTop;
	const context = canvasSize('rows', high);

	gridDraw(context, marks, Math.min(high, Math.max(height - top, 0)));
	for (const line of layout)
		if (line.y + line.height > top && line.y < top + high)
			lineDraw(context, line, line.y - top);
	drawn.note = emptyText();
	context.fillStyle = theme.text;
	context.textAlign = 'center';
	drawn.note.split('\n').forEach((text, i) => context.fillText(text, NAMES_WIDTH + plotWidth() / 2, high / 2 + 18 * i));
	context.save();
	context.beginPath();
	context.rect(NAMES_WIDTH, 0, plotWidth(), high);
	context.clip();
	arrowsDraw(context, top, high);
	bandsDraw(context, high);
	context.restore();
}
