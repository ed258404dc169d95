// SPDX-License-Identifier: GPL-2.0
// Colours, which are those of style.css, patterns, and the legend.

let theme = {};
let patterns = {};

function pattern(back, draw) {
	const tile = document.createElement('canvas');

	tile.width = tile.height = 8;
	const context = tile.getContext('2d');
	if (back) {
		context.fillStyle = back;
		context.fillRect(0, 0, 8, 8);
	}
	draw(context);
	return context.createPattern(tile, 'repeat');
}

function stripes(colour, thick) {
	return context => {
		context.strokeStyle = colour;
		context.lineWidth = thick;
		context.beginPath();
		for (const x of [-8, 0, 8]) {
			context.moveTo(x - 1, 9);
			context.lineTo(x + 9, -1);
		}
		context.stroke();
	};
}

function themeRead() {
	const style = getComputedStyle(document.documentElement);

	theme = new Proxy({}, { get: (cache, name) => cache[name] ??= style.getPropertyValue(`--${name}`).trim() });
	patterns = {
		preempted: pattern(theme.preempted, stripes(theme['preempted-stripe'], 1.5)),
		throttled: pattern(theme.throttled, context => {
			context.fillStyle = theme['throttled-stripe'];
			context.fillRect(0, 0, 2, 8);
		}),
		evicted: pattern(theme.evicted, context => {
			context.fillStyle = theme['evicted-dot'];
			context.fillRect(1, 1, 2, 2);
			context.fillRect(5, 5, 2, 2);
		}),
		lost: pattern(null, stripes(theme.lost, 1.5)),
	};
	legendDraw();
}

function legendDraw() {
	const legend = byId('legend');
	const item = (text, draw) => {
		const entry = document.createElement('li'), canvas = document.createElement('canvas');

		canvas.width = 22;
		canvas.height = 14;
		draw(canvas.getContext('2d'));
		entry.append(canvas, text);
		legend.append(entry);
	};
	const fill = style => context => {
		context.fillStyle = style;
		context.fillRect(0, 0, 22, 14);
	};

	const ours = head.driver !== 'stock';

	legend.textContent = '';
	item('mapped', fill(theme.mapped));
	if (ours)
		item('preempted', fill(patterns.preempted));
	item('evicted', fill(patterns.evicted));
	if (ours)
		item('parked', fill(theme.parked));
	if (rows.some(row => row.spans?.[THROTTLED]?.from.length))
		item('throttled', fill(patterns.throttled));
	item('not mapped', context => {
		context.fillStyle = theme.alive;
		context.fillRect(0, 6, 22, 2);
	});
	if (rows.some(row => row.spans?.[UNKNOWN]?.from.length))
		item('not known', context => dotsDraw(context, 0, 22, 6));
	if (ours) {
		item('preempts others', fill(theme.preempting));
		item('doorbell', context => wakeDraw(context, 11, 12));
		item('priority set', context => prioDraw(context, 11, 7));
	}
	item('events missing', fill(patterns.lost));
}
