// SPDX-License-Identifier: GPL-2.0
// #test=[STEP, ...]: does what a user would do and writes what the page made of it into an element, for
// tests/kfdtrace/timeline. A step is an array: what, and its arguments.

function stateOf(name) {
	return {
		step: name,
		from: view.from, to: view.to, lines: layout.length, shown: layout.filter(line => line.kind === 'queue').length,
		drawn, matches: byId('matches').textContent, detail: byId('detail').textContent,
		tip: byId('tip').hidden ? null : byId('tip').textContent,
	};
}

function rowState(row) {
	const total = spans => spans.to.reduce((sum, to, i) => sum + to - spans.from[i], 0);
	const { from, to } = row.spans[PREEMPTED];
	const by = new Set();

	from.slice(0, 1000).forEach((start, i) => preemptionsOf(row.process, start, to[i]).forEach(one => by.add(one.pid)));

	return {
		gpu_id: row.process.gpu_id, pid: row.process.pid, queue_id: row.queue_id, type: row.type,
		takers: Array.from(from.slice(0, 1000), start => takerOf(row.process, start)?.pid), by: [...by],
		...Object.fromEntries(KIND_NAMES.map((name, kind) => [name, { nr: row.spans[kind].from.length, ns: total(row.spans[kind]) }])),
	};
}

// Where a queue (or, without one, its process) is at a time, in the page.
function placeOf(pid, queue_id, t) {
	const line = layout.find(one => queue_id === null ? one.kind === 'process' && one.process.pid === pid :
		one.kind === 'queue' && one.process.pid === pid && one.row.queue_id === queue_id);
	const box = byId('chart').getBoundingClientRect();

	return line && { x: box.left + xOf(t), y: box.top + AXIS_HEIGHT + line.y - byId('scroll').scrollTop + line.height / 2 };
}

const steps = {
	key: key => byId('chart').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })),
	click: id => byId(id).click(),
	filter: text => {
		byId('filter').value = text;
		byId('filter').dispatchEvent(new InputEvent('input'));
	},
	wheel: (x, y, deltaY, shiftKey) => byId('chart').dispatchEvent(new WheelEvent('wheel', { clientX: x, clientY: y, deltaY, shiftKey,
		bubbles: true, cancelable: true })),
	mouse: (type, x, y, shiftKey) => byId('rows').dispatchEvent(new MouseEvent(type, { clientX: x, clientY: y, shiftKey, bubbles: true })),
	over: (pid, queue_id, t) => {
		const { x, y } = placeOf(pid, queue_id, t);

		steps.mouse('mousemove', x, y);
	},
	overload: (gpu, t) => {
		const box = byId('load').getBoundingClientRect();

		steps.mouse('mousemove', box.left + xOf(t), box.top + (gpu + 0.5) * loadHeight());
	},
	view: (from, to) => viewSet(from, to),
	time: frames => {
		const from = performance.now();

		for (let i = 0; i < frames; i++)
			draw();
		return (performance.now() - from) / frames;
	},
	where: placeOf,
	labels: () => ticks().list.map(tick => tick.label),
	longer: ns => {
		end = ns;
		viewSet(0, end);
	},
	address: () => location.hash,
	pointer: (type, part) => {
		const box = byId('overview').getBoundingClientRect();

		byId('overview').dispatchEvent(new PointerEvent(type, { clientX: box.left + overviewX(part * end), clientY: box.top + 5, bubbles: true }));
	},
	room: () => ({ wide: document.documentElement.scrollWidth, window: window.innerWidth, detail: byId('detail').scrollWidth - byId('detail').clientWidth,
		       high: document.documentElement.scrollHeight, windowHigh: window.innerHeight, chart: byId('scroll').clientHeight, names: NAMES_WIDTH, plot: plotWidth() }),
	box: () => ({ names: NAMES_WIDTH, plot: plotWidth(), axis: AXIS_HEIGHT, top: byId('chart').getBoundingClientRect().top,
		      below: window.innerHeight - byId('load').getBoundingClientRect().top }),
};

function check(list) {
	const state = { title: document.title, simulated: byId('simulated').hidden ? '' : byId('simulated').textContent, warning: byId('warning').textContent,
			theme: document.documentElement.dataset.theme, rows: rows.map(rowState), first: stateOf('start'),
			gpus: gpus.map(gpu => ({ gpu_id: gpu.gpu_id, max: gpu.load.max, hqds: gpu.compute_hqds })),
			processes: processes.map(process => ({ gpu_id: process.gpu_id, pid: process.pid, command: process.command,
							       wakes: process.wakes.length, prio: process.prio,
							       preempting: process.preempting.length })),
			steps: [] };

	try {
		for (const [what, ...values] of list)
			state.steps.push({ result: steps[what](...values), ...stateOf(what) });
	} catch (error) {
		state.error = String(error);
	}
	const element = document.createElement('script');
	element.type = 'application/json';
	element.id = 'state';
	element.textContent = JSON.stringify(state).replaceAll('<', '\\u003c');
	document.body.append(element);
}
