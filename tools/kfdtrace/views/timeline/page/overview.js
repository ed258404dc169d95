// SPDX-License-Identifier: GPL-2.0
// The whole recording in one strip, and which part of it is in view; the selection; the address, which keeps the view.

const OVERVIEW_HEIGHT = 40, OVERVIEW_GRIP = 3;

let strip = null;	// the picture without the window, and for what it was drawn

const overviewX = t => NAMES_WIDTH + t / end * plotWidth();
const overviewTime = x => (x - NAMES_WIDTH) / plotWidth() * end;

// How much of each column is within spans of time, 0 to 1.
function covered(list, columns) {
	const share = new Float32Array(columns), scale = columns / end;

	for (const { from, to } of list) {
		const x0 = from * scale, x1 = Math.min(to * scale, columns);

		for (let x = Math.max(Math.floor(x0), 0); x < x1 && x < columns; x++)
			share[x] = Math.min(share[x] + Math.min(x1, x + 1) - Math.max(x0, x), 1);
	}
	return share;
}

function stripDraw(context) {
	const columns = Math.floor(plotWidth()), all = { from: 0, to: end };
	const most = Math.max(1, ...gpus.map(gpu => gpu.load.max)) * Math.max(gpus.length, 1);
	const sum = new Float32Array(columns), taken = covered(preemptions, columns);

	for (const gpu of gpus)
		loadColumns(gpu.load, columns, all).average.forEach((value, x) => { sum[x] += value; });
	for (let x = 0; x < columns; x++) {
		const high = Math.min(sum[x] / most, 1) * (OVERVIEW_HEIGHT - 14);

		context.fillStyle = theme.load;
		context.fillRect(NAMES_WIDTH + x, OVERVIEW_HEIGHT - 2 - high, 1, high);
		if (taken[x] > 0) {
			context.globalAlpha = 0.4 + 0.6 * taken[x];
			context.fillStyle = theme.preempting;
			context.fillRect(NAMES_WIDTH + x, 3, 1, 6);
			context.globalAlpha = 1;
		}
	}
	context.fillStyle = patterns.lost;
	for (const gap of head.gaps)
		context.fillRect(overviewX(gap.from), 0, Math.max(overviewX(gap.to) - overviewX(gap.from), 2), OVERVIEW_HEIGHT);
	context.fillStyle = theme.quiet;
	context.textAlign = 'left';
	context.fillText(fitted(context, narrow() ? `all: ${duration(end)}` : `whole recording: ${duration(end)}`, NAMES_WIDTH - 14), 8, OVERVIEW_HEIGHT / 2 + 1);
}

// Drawn anew only if its size or its colours have changed.
function overviewDraw() {
	const context = canvasSize('overview', OVERVIEW_HEIGHT), key = `${width()} ${NAMES_WIDTH} ${theme.load} ${end} ${window.devicePixelRatio}`;
	const canvas = byId('overview');

	if (strip?.key !== key) {
		stripDraw(context);
		strip = { key, picture: document.createElement('canvas') };
		strip.picture.width = canvas.width;
		strip.picture.height = canvas.height;
		strip.picture.getContext('2d').drawImage(canvas, 0, 0);
	} else {
		context.drawImage(strip.picture, 0, 0, width(), OVERVIEW_HEIGHT);
	}
	const left = Math.max(overviewX(view.from), NAMES_WIDTH), right = Math.min(overviewX(view.to), NAMES_WIDTH + plotWidth());
	context.fillStyle = theme.page;
	context.globalAlpha = 0.6;
	context.fillRect(NAMES_WIDTH, 0, left - NAMES_WIDTH, OVERVIEW_HEIGHT);
	context.fillRect(right, 0, NAMES_WIDTH + plotWidth() - right, OVERVIEW_HEIGHT);
	context.globalAlpha = 1;
	context.strokeStyle = theme.text;
	context.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, OVERVIEW_GRIP), OVERVIEW_HEIGHT - 1);
}

// A click brings a time to the middle; the window in view is moved; beside it a new one is chosen.
function overviewListen() {
	const canvas = byId('overview');
	let from = null, moves = false;
	const at = event => overviewTime(event.clientX - canvas.getBoundingClientRect().left);

	canvas.addEventListener('pointerdown', event => {
		from = at(event);
		moves = from >= view.from && from <= view.to && view.to - view.from < end * 0.98;
		canvas.setPointerCapture?.(event.pointerId);
	});
	canvas.addEventListener('pointermove', event => {
		if (from === null)
			return;
		const now = at(event);

		if (moves) {
			viewSet(view.from + now - from, view.to + now - from);
			from = now;
		} else if (Math.abs(overviewX(now) - overviewX(from)) > OVERVIEW_GRIP) {
			viewSet(Math.max(Math.min(from, now), 0), Math.min(Math.max(from, now), end));
		}
	});
	canvas.addEventListener('pointerup', event => {
		const now = at(event), half = (view.to - view.from) / 2;

		if (from !== null && !moves && Math.abs(overviewX(now) - overviewX(from)) <= OVERVIEW_GRIP)
			viewSet(now - half, now + half, true);
		from = null;
	});
	canvas.addEventListener('pointercancel', () => { from = null; });
}

// How long the selection is, over the axis.
function selectDraw(context) {
	const [from, to] = view.select.map(t => Math.min(Math.max(xOf(t), NAMES_WIDTH), NAMES_WIDTH + plotWidth()));
	const text = duration(view.select[1] - view.select[0]), wide = context.measureText(text).width + 10;
	const middle = Math.min(Math.max((from + to) / 2, NAMES_WIDTH + wide / 2), NAMES_WIDTH + plotWidth() - wide / 2);

	if (to <= from)
		return;
	context.fillStyle = theme.select;
	context.fillRect(from, AXIS_HEIGHT - 4, to - from, 3);
	context.fillRect(middle - wide / 2, 2, wide, AXIS_HEIGHT - 8);
	context.fillStyle = theme['on-select'];
	context.textAlign = 'center';
	context.fillText(text, middle, AXIS_HEIGHT / 2 - 1);
}

let addressTimer = 0, addressOwn = '';

// What start() reads: a page that is loaded again, or sent to somebody, shows the same.
function addressWrite() {
	const wanted = new URLSearchParams(location.hash.slice(1));
	const seconds = ns => ((ns + shift()) / 1e9).toFixed(9);
	const put = (key, text) => text ? wanted.set(key, text) : wanted.delete(key);

	put('from', seconds(view.from));
	put('to', seconds(view.to));
	put('time', view.clock ? 'clock' : '');
	put('filter', view.filter);
	put('select', view.select ? view.select.map(seconds).join(',') : '');
	addressOwn = `#${wanted}`;
	try {
		history.replaceState(null, '', addressOwn);
	} catch {
		// a browser may forbid it, or so many in a short time: the page works without
	}
}

function addressKeep() {
	clearTimeout(addressTimer);
	if (immediate)
		addressWrite();
	else
		addressTimer = setTimeout(addressWrite, 300);
}

// From the address, of either count; see timeWanted().
function addressRead() {
	const wanted = new URLSearchParams(location.hash.slice(1)), select = (wanted.get('select') ?? '').split(',').map(timeWanted);
	const [from, to] = wanted.has('from') || wanted.has('to') ? [0, end] : opening();

	view.select = select.length === 2 && select.every(Number.isFinite) ? select : null;
	viewSet(wanted.has('from') ? timeWanted(wanted.get('from')) : from, wanted.has('to') ? timeWanted(wanted.get('to')) : to);
	filterSet(wanted.get('filter') ?? '');
	if (view.select)
		selectTell();
}

// Of what the page shows first, a preemption is no hairline.
const MIN_OPENING = 24;	// pixels of a preemption

function opening() {
	const lengths = preemptions.map(one => one.to - one.from).sort((a, b) => a - b), middling = lengths[lengths.length >> 1];
	const range = middling / MIN_OPENING * plotWidth();

	if (!lengths.length || !middling || range >= end)
		return [0, end];
	const first = preemptions.find(one => one.to - one.from >= middling);
	const from = Math.max(Math.min(first.from - range * 0.05, end - range), 0);
	const nr = preemptions.filter(one => one.from < from + range && one.to > from).length;

	detailSet(`${nr} of ${preemptions.length} preemptions are in view. 0 or the button All shows the whole recording.`,
		  { from, to: from + range });
	return [from, from + range];
}
