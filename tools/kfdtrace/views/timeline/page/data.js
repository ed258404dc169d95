// SPDX-License-Identifier: GPL-2.0
// The recording, out of the page: see views/timeline/html.c for its form. Times are ns after the first event.

const MAPPED = 0, PREEMPTED = 1, EVICTED = 2, ALIVE = 3, PARKED = 4, UNKNOWN = 5, THROTTLED = 6, KINDS = 7;
const KIND_NAMES = ['mapped', 'preempted', 'evicted', 'alive', 'parked', 'unknown', 'throttled'];

let head;		// what is known of the whole
let gpus = [];		// in the order of their numbers
let processes = [];	// one for each GPU that a process uses
let rows = [];		// one for each number of a queue
let preemptions = [];	// in the order of their begins
let end = 1;		// of the recording

const byId = id => document.getElementById(id);

// The first index of a sorted array whose value is larger than x.
function above(array, x) {
	let low = 0, high = array.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (array[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// Lines of arrays of numbers: a letter, then what it says.
function* lines(text) {
	for (let at = 0, stop; at < text.length; at = stop + 1) {
		stop = text.indexOf('\n', at);
		if (stop < 0)
			stop = text.length;
		if (stop > at)
			yield JSON.parse(text.slice(at, stop));
	}
}

function spansRead(chunks) {
	const counts = new Uint32Array(rows.length * KINDS);

	for (const chunk of chunks)
		for (let i = 1; i < chunk.length; i += 4)
			counts[chunk[i] * KINDS + chunk[i + 1]]++;
	rows.forEach((row, r) => {
		row.spans = [];
		for (let kind = 0; kind < KINDS; kind++) {
			const nr = counts[r * KINDS + kind];

			row.spans.push({ from: new Float64Array(nr), to: new Float64Array(nr) });
		}
	});
	counts.fill(0);
	let now = 0;
	for (const chunk of chunks)
		for (let i = 1; i < chunk.length; i += 4) {
			const which = chunk[i] * KINDS + chunk[i + 1], at = counts[which]++;
			const { from, to } = rows[chunk[i]].spans[chunk[i + 1]];

			now += chunk[i + 2];
			// a damaged file may say anything; what is searched must be sorted
			from[at] = Math.max(now - chunk[i + 3], at ? to[at - 1] : 0);
			to[at] = Math.max(now, from[at]);
		}
}

// How many compute queues are mapped, and SDMA ones: the moments at which that changes.
function loadMake(gpu, types) {
	let total = 0;

	for (const row of gpu.rows)
		if (types.includes(row.type))
			total += row.spans[MAPPED].from.length;
	const starts = new Float64Array(total), ends = new Float64Array(total);
	let at = 0;
	for (const row of gpu.rows)
		if (types.includes(row.type)) {
			starts.set(row.spans[MAPPED].from, at);
			ends.set(row.spans[MAPPED].to, at);
			at += row.spans[MAPPED].from.length;
		}
	starts.sort();
	ends.sort();
	const time = new Float64Array(2 * total), count = new Int32Array(2 * total);
	let s = 0, e = 0, now = 0, max = 0;
	for (at = 0; at < 2 * total; at++) {
		if (s < total && starts[s] < ends[e]) {
			time[at] = starts[s++];
			now++;
		} else {
			time[at] = ends[e++];
			now--;
		}
		count[at] = now;
		max = Math.max(max, now);
	}
	return { time, count, max };
}

function processesSort() {
	const prio = process => process.prio ?? Math.max(-1, ...process.rows.map(row => row.prio));

	for (const process of processes)
		process.rows.sort((a, b) => a.queue_id - b.queue_id);
	for (const process of processes)
		process.effective = prio(process);
	processes.sort((a, b) => a.gpu.order - b.gpu.order || b.effective - a.effective || a.pid - b.pid);
}

function read() {
	const chunks = [];

	head = JSON.parse(byId('head').textContent);
	// after the last event may be a time of which all is lost
	end = Math.max(head.last_ns - head.first_ns, ...head.gaps.map(gap => gap.to), 1);
	gpus = head.gpus;
	gpus.forEach((gpu, order) => Object.assign(gpu, { order, rows: [], hangs: [] }));
	processes = head.processes;
	for (const process of processes)
		Object.assign(process, { gpu: gpus.find(gpu => gpu.gpu_id === process.gpu_id), rows: [], wakes: [],
					 prios: [], preempting: [], throttlings: [], folded: false });
	const found = new Map(processes.map(process => [`${process.gpu_id}/${process.pid}`, process]));
	const byPid = new Map();	// of each GPU
	for (const process of processes)
		byPid.set(process.pid, [...byPid.get(process.pid) ?? [], process]);
	rows = head.rows.map(([gpu_id, pid, queue_id, type, prio]) => {
		const process = found.get(`${gpu_id}/${pid}`);
		const row = { process, queue_id, type, prio };

		process?.rows.push(row);
		gpus.find(gpu => gpu.gpu_id === gpu_id).rows.push(row);
		return row;
	});
	for (const line of lines(byId('stream').textContent)) {
		const [letter, ts, gpu_id, pid] = line;

		if (letter === 's')
			chunks.push(line);
		else if (letter === 'w')
			found.get(`${gpu_id}/${pid}`)?.wakes.push(ts);
		else if (letter === 't')
			found.get(`${gpu_id}/${pid}`)?.throttlings.push({ from: ts, reason: line[4], share: line[5], cgroup_share: line[6] });
		else if (letter === 'h')
			gpus.find(gpu => gpu.gpu_id === gpu_id)?.hangs.push(ts);
		else if (letter === 'c')
			for (const process of byPid.get(line[2]) ?? [])
				process.prios.push({ ts, prio: line[3], old: line[4], by: line[5] });
		else if (letter === 'p')
			preemptions.push({ from: ts, gpu_id, pid, prio: line[4], seq: line[5], reason: line[6], to: line[7],
					   ended: line[8], victims: line[9], queues: line[10], ret: line[11] });
	}
	spansRead(chunks);
	// with --pid: the others count for the load, no more
	rows = rows.filter(row => row.process);
	preemptions.sort((a, b) => a.from - b.from);
	for (const preemption of preemptions) {
		preemption.process = found.get(`${preemption.gpu_id}/${preemption.pid}`);
		preemption.process?.preempting.push(preemption);
	}
	for (const process of processes) {
		process.throttlings.sort((a, b) => a.from - b.from);
		process.throttledFrom = Float64Array.from(process.throttlings, one => one.from);
	}
	for (const gpu of gpus) {
		gpu.preemptions = preemptions.filter(one => one.gpu_id === gpu.gpu_id);
		gpu.begins = Float64Array.from(gpu.preemptions, one => one.from);
		// the latest end so far: sorted, too
		gpu.ends = Float64Array.from(gpu.preemptions, one => one.to);
		for (let i = 1; i < gpu.ends.length; i++)
			gpu.ends[i] = Math.max(gpu.ends[i], gpu.ends[i - 1]);
		gpu.load = loadMake(gpu, ['COMPUTE', '?']);
		gpu.sdma = loadMake(gpu, ['SDMA', 'SDMA_XGMI']);
	}
	processesSort();
}

// The preemption for which a process left the GPU at a time.
function takerOf(process, ts) {
	const { preemptions: list, begins } = process.gpu;
	const found = list[above(begins, ts) - 1];

	return found && found.pid !== process.pid ? found : null;
}

// The preemptions that kept a process off in a span.
function preemptionsOf(process, from, to) {
	const { preemptions: list, begins, ends } = process.gpu;

	return list.slice(above(ends, from), above(begins, to)).filter(preemption => preemption.from < to && preemption.to > from &&
		preemption.pid !== process.pid);
}

// Why a process was throttled in a span that begins at a time: a queue may have left the GPU later, or come later.
function throttlingOf(process, ts) {
	return process.throttlings[above(process.throttledFrom, ts) - 1] ?? null;
}

// Any of its queues was: as one span, for a folded process.
function union(process, kind) {
	const all = [], from = [], to = [];

	for (const { spans } of process.rows)
		for (let i = 0; i < spans[kind].from.length; i++)
			all.push([spans[kind].from[i], spans[kind].to[i]]);
	all.sort((a, b) => a[0] - b[0]);
	for (const [start, stop] of all)
		if (from.length && start <= to[to.length - 1]) {
			to[to.length - 1] = Math.max(to[to.length - 1], stop);
		} else {
			from.push(start);
			to.push(stop);
		}
	return { from: Float64Array.from(from), to: Float64Array.from(to) };
}

function processSpans(process) {
	process.spans ??= KIND_NAMES.map((_, kind) => union(process, kind));
	return process.spans;
}
