// SPDX-License-Identifier: GPL-2.0
// Times, names and sentences.

const UNITS = [['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3], ['ns', 1]];

// What the words of a preemption mean; see preemption.rst.
const REASONS = {
	WORK: 'it got work',
	IDLE: 'it had no work for linger_us',
	BUDGET: 'its work made no progress for busy_budget_ms',
	FLOOR: 'the preempted processes got their share, floor_pct',
	RATE: 'max_preempt_per_s or max_switch_pct was reached',
	OFF: 'kfd_preempt was switched off',
	GONE: 'it has ended or lost its priority',
};

// What the words of a throttling mean; see shares.rst.
const THROTTLE_REASONS = {
	MAX: groups => `throttled by the limit of ${groups.length ? `group ${groups.join(' or ')}` : 'its group'}`,
	WEIGHT: groups => `waited for the turn of another group${groups.length ? `; it is in group ${groups.join(' and ')}` : ''}`,
};

function duration(ns) {
	if (ns >= 119.5e9) {
		const seconds = Math.round(ns / 1e9), two = number => String(number).padStart(2, '0');

		return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)} h`;
	}
	const [unit, size] = UNITS.find(entry => ns >= entry[1] * 0.9995) ?? UNITS[3];
	const value = ns / size;

	return unit === 'ns' ? `${Math.round(ns)} ns` :
		`${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}

// Exact, and as trace-cmd report prints it.
function moment(ns) {
	const whole = BigInt(Math.round(ns)), clock = whole + BigInt(head.first_ns);
	const seconds = number => `${number / 1000000000n}.${String(number % 1000000000n).padStart(9, '0')}`;

	return view.clock ? `${head.clock} ${seconds(clock)} (${seconds(whole)} s)` : `${seconds(whole)} s (${head.clock} ${seconds(clock)})`;
}

function timeName() {
	return view.clock ? head.clock : 'time';
}

function bandOf(prio) {
	return prio < 0 ? '' : prio < 7 ? 'low' : prio < 11 ? 'normal' : 'high';
}

function prioText(process) {
	if (process.prio !== null)
		return `${process.prio} ${bandOf(process.prio)}`;
	return process.effective < 0 ? '' : `(${process.effective} ${bandOf(process.effective)})`;
}

function processName(process) {
	return `${process.command} \u00b7 PID ${process.pid}` +
		(process.inner_pid === null ? '' : ` (${process.inner_pid} inside)`);
}

function gpuName(gpu) {
	return `GPU ${gpu.gpu_id}` + (gpu.name ? ` ${gpu.name}` : '') + (gpu.pci ? ` (${gpu.pci})` : '');
}

function queueName(row) {
	return `queue ${row.queue_id}` + (row.type === '?' ? '' : ` ${row.type.toLowerCase().replace('_', ' ')}`);
}

// Of a queue that is older than the recording, and of which no event tells.
function rowPrio(row) {
	return row.prio < 0 ? 'priority not known' : `priority ${row.prio}`;
}

function reasonText(preemption) {
	return `${preemption.reason ?? 'begin not recorded'} \u2192 ` +
		(preemption.ended ?? 'end not recorded');
}

function reasonLong(preemption) {
	const say = (reason, otherwise) => REASONS[reason] ?? reason ?? otherwise;

	return `${reasonText(preemption)} (${say(preemption.reason, 'begin not recorded')}, then ${say(preemption.ended, 'end not recorded')})`;
}

function preemptionText(preemption) {
	const who = preemption.process ? processName(preemption.process) : `PID ${preemption.pid}`;

	return `by ${who}, priority ${preemption.prio}: ${reasonLong(preemption)}, ` +
		`${duration(preemption.to - preemption.from)}`;
}

const groupsOf = throttling => [throttling?.share, throttling?.cgroup_share].filter(group => group);

// Without a reason, neither the begin of it nor the end is in the recording.
function throttlingText(throttling) {
	const groups = groupsOf(throttling);

	return THROTTLE_REASONS[throttling?.reason]?.(groups) ?? `throttled for ${throttling?.reason ? `the reason ${throttling.reason}` : 'a reason that is not known'}`;
}

// In a span of the chart
function throttlingShort(throttling) {
	const groups = groupsOf(throttling);

	return throttling?.reason === 'MAX' && groups.length ? `by the limit of group ${groups.join(' or ')}` :
		throttling?.reason === 'WEIGHT' ? 'for the turn of another group' : throttling?.reason ?? 'for a reason that is not known';
}

function spanTimes(from, to) {
	return `from ${moment(from)}\nto ${moment(to)}\nfor ${duration(to - from)}`;
}

function spanText(row, kind, from, to) {
	const lines = [`${KIND_NAMES[kind]}: ${queueName(row)}, ${rowPrio(row)}`, processName(row.process), spanTimes(from, to)];

	if (kind === PREEMPTED) {
		const by = preemptionsOf(row.process, from, to);

		for (const preemption of by.slice(0, 3))
			lines.push(preemptionText(preemption));
		if (by.length > 3)
			lines.push(`and ${by.length - 3} more`);
	}
	if (kind === PARKED)
		lines.push('it had no work');
	if (kind === THROTTLED)
		lines.push(throttlingText(throttlingOf(row.process, from)));
	if (kind === EVICTED)
		lines.push('by KFD: memory, suspend or debugger');
	if (kind === UNKNOWN)
		lines[0] = `whether it was mapped is not known: ${queueName(row)}, ${rowPrio(row)}`;
	if (kind === ALIVE)
		lines[0] = `not mapped: ${queueName(row)}, ${rowPrio(row)}`;
	return lines.join('\n');
}

function count(number, what) {
	return `${number ?? '?'} ${what}` + (number === 1 ? '' : what === 'process' ? 'es' : 's');
}

function preemptingText(preemption) {
	return [`preempts ${count(preemption.victims, 'process')}, ` +
		`${count(preemption.queues, 'queue')}: ${reasonLong(preemption)}`,
		preemption.process ? processName(preemption.process) : `PID ${preemption.pid}`,
		spanTimes(preemption.from, preemption.to),
		`number ${preemption.seq}, priority ${preemption.prio}` + (preemption.ret ? `, failed: ${preemption.ret}` : '')].join('\n');
}

function gapText(gap) {
	return `EVENTS ARE MISSING: CPU ${gap.cpu}\n${spanTimes(gap.from, gap.to)}\nthe page may be wrong here`;
}

function warnings() {
	const list = [], times = nr => nr === 1 ? '1 place' : `${nr} places`;

	if (head.lost)
		list.push(`LOST ${head.lost_known ? '' : 'AT LEAST '}${head.lost} EVENTS during the recording: ` +
			'the page may be wrong; ' +
			(head.gaps.length ? 'hatched bands mark the places.' : 'the places are not known.'));
	else if (!head.lost_known)
		list.push('Whether events were lost is not known.');
	if (!head.lost && head.gaps.length > 0)
		list.push(`EVENTS ARE MISSING at ${times(head.gaps.length)}, which are hatched: the page may be wrong there.`);
	if (head.cut)
		list.push(`The recording is TRUNCATED: ${head.cut} of ${head.cut + head.whole} bytes of events are missing; ` +
			'hatched bands mark the end of the events of each CPU.');
	if (head.damaged)
		list.push(`The recording is DAMAGED at ${times(head.damaged)}, which were skipped.`);
	if (head.pids.length === 1)
		list.push(`Only the process ${head.pids[0]} is shown.`);
	else if (head.pids.length)
		list.push(`Only the processes ${head.pids.join(', ')} are shown.`);
	return list.join(' ');
}

function facts() {
	const list = [];

	if (head.command)
		list.push(head.command.join(' '));
	list.push(duration(end), gpus.map(gpuName).join(', '));
	if (head.kernel)
		list.push(`Linux ${head.kernel}`);
	if (head.recorded)
		list.push(new Date(head.recorded * 1000).toISOString().replace('T', ' ').replace(/\..*/, ' UTC'));
	list.push(`${count(new Set(rows.map(row => row.process.pid)).size, 'process')}, ${count(rows.length, 'queue')}` +
		(head.driver === 'stock' ? '' : `, ${count(preemptions.length, 'preemption')}`));
	return list.filter(text => text).join(' \u00b7 ');
}
