// SPDX-License-Identifier: GPL-2.0
// How many queues are mapped on each GPU, against how many it has room for.

const MAX_LOAD_HEIGHT = 66, LOAD_SHARE = 0.4;

const loadHeight = () => Math.max(22, Math.min(narrow() ? 44 : MAX_LOAD_HEIGHT, byId('chart').clientHeight * LOAD_SHARE / Math.max(gpus.length, 1)));

// The number before a moment's next change.
function loadAt(load, t) {
	const at = above(load.time, t);

	return at ? load.count[at - 1] : 0;
}

// Per pixel the average and the largest number; each change within a time is looked at once.
function loadColumns(load, columns, within = view) {
	const scale = columns / (within.to - within.from);
	const average = new Float32Array(columns), most = new Int32Array(columns);
	let at = above(load.time, within.from), now = at ? load.count[at - 1] : 0, t = within.from;

	for (let x = 0; x < columns; x++) {
		const stop = x === columns - 1 ? within.to : within.from + (x + 1) / scale;
		let sum = 0, max = now;

		for (; at < load.time.length && load.time[at] < stop; at++) {
			sum += now * (load.time[at] - t);
			t = load.time[at];
			now = load.count[at];
			// several changes at one moment are one
			if (at + 1 === load.time.length || load.time[at + 1] > t)
				max = Math.max(max, now);
		}
		sum += now * (stop - t);
		t = stop;
		average[x] = sum * scale;
		most[x] = max;
	}
	return { average, most };
}

function loadDraw(marks) {
	const high = loadHeight(), context = canvasSize('load', Math.max(high * gpus.length, 1));
	const columns = Math.floor(plotWidth());

	gridDraw(context, marks, high * gpus.length);
	gpus.forEach((gpu, nr) => {
		const top = nr * high, scale = Math.max(gpu.load.max, gpu.compute_hqds ?? 0, 1), room = high - 10;
		const yOf = count => top + high - 2 - count / scale * room;
		const { average, most } = loadColumns(gpu.load, columns);
		const limit = gpu.compute_hqds ?? Infinity;

		for (let x = 0; x < columns; x++) {
			context.fillStyle = theme.load;
			context.fillRect(NAMES_WIDTH + x, yOf(Math.min(average[x], limit)), 1, yOf(0) - yOf(Math.min(average[x], limit)));
			if (average[x] > limit) {
				context.fillStyle = theme.over;
				context.fillRect(NAMES_WIDTH + x, yOf(average[x]), 1, yOf(limit) - yOf(average[x]));
			}
			context.fillStyle = most[x] > limit ? theme.over : theme.mapped;
			context.fillRect(NAMES_WIDTH + x, yOf(most[x]) - 1, 1, 2);
		}
		context.fillStyle = theme.line;
		context.fillRect(0, top, width(), 1);
		context.textAlign = 'left';
		context.fillStyle = theme.text;
		const limitText = `of ${gpu.compute_hqds ?? '?'} HQDs`;
		const middle = top + high / 2 + 1;
		if (high >= 40) {
			context.fillText(fitted(context, narrow() ? `GPU ${gpu.gpu_id}` : gpuName(gpu), NAMES_WIDTH - 20), 8, middle - 9);
			context.fillStyle = theme.quiet;
			context.fillText(fitted(context, narrow() ? `${gpu.load.max} ${limitText}` : `mapped at most: ${gpu.load.max} ${limitText}`,
						NAMES_WIDTH - 20), 8, middle + 9);
		} else {
			context.fillText(fitted(context, `GPU ${gpu.gpu_id}: at most ${gpu.load.max} ${limitText}`, NAMES_WIDTH - 20), 8, middle);
		}
		if (gpu.compute_hqds) {
			context.fillStyle = theme.over;
			for (let x = 0; x < columns; x += 8)
				context.fillRect(NAMES_WIDTH + x, Math.round(yOf(limit)), 5, 1);
			context.textAlign = 'left';
			context.fillStyle = theme.quiet;
			context.fillText(`${limit}`, NAMES_WIDTH + plotWidth() + 6, Math.max(yOf(limit), top + 8));
		}
		for (const ts of gpu.hangs)
			if (ts >= view.from && ts <= view.to) {
				context.fillStyle = theme.alarm;
				context.fillRect(xOf(ts) - 1, top, 3, high);
			}
	});
	bandsDraw(context, high * gpus.length);
}

function loadText(gpu, t) {
	const limit = gpu.compute_hqds ? ` of ${gpu.compute_hqds} HQDs` : '';
	const lines = [gpuName(gpu), `${loadAt(gpu.load, t)} compute queues mapped${limit}, ${loadAt(gpu.sdma, t)} SDMA queues`,
		       `at ${moment(Math.max(t, 0))}`];
	const hang = gpu.hangs.find(ts => Math.abs(xOf(ts) - xOf(t)) < 4);

	if (gpu.compute_hqds && loadAt(gpu.load, t) > gpu.compute_hqds)
		lines.push('over-subscribed: they take turns');
	if (hang !== undefined)
		lines.push(`the scheduler did not answer at ${moment(hang)}`);
	return lines.join('\n');
}
