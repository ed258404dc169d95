// SPDX-License-Identifier: GPL-2.0
// Queues that are not mapped, or of which that is not known.

function aliveDraw(context, { from, to }, y, scale) {
	let done = -1;

	context.fillStyle = theme.alive;
	for (let i = above(to, view.from); i < from.length && from[i] < view.to; i++) {
		const x0 = Math.max((from[i] - view.from) * scale, 0), x1 = Math.max((Math.min(to[i], view.to) - view.from) * scale, x0 + 1);

		// it would be in a pixel that is drawn already
		if (x1 < done + 0.5)
			continue;
		context.fillRect(NAMES_WIDTH + x0, y, x1 - x0, 2);
		done = x1;
	}
}

// Whether the queue was mapped is not known: dots in place of the line.
function unknownDraw(context, { from, to }, y, scale) {
	for (let i = above(to, view.from); i < from.length && from[i] < view.to; i++) {
		const x0 = Math.max((from[i] - view.from) * scale, 0), x1 = Math.max((Math.min(to[i], view.to) - view.from) * scale, x0 + 1);

		context.clearRect(NAMES_WIDTH + x0, y, x1 - x0, 2);
		dotsDraw(context, NAMES_WIDTH + x0, NAMES_WIDTH + x1, y);
	}
}

// In place of the line of a queue that is not mapped.
function dotsDraw(context, from, to, y) {
	context.fillStyle = theme.quiet;
	for (let x = Math.ceil(from / 8) * 8; x < to; x += 8)
		context.fillRect(x, y, 2, 2);
}
