// SPDX-License-Identifier: GPL-2.0
// The offline client: STREAMS streams, each kept full of large matrix products.
//
//	offline LOG SECONDS STREAMS N
#include "gemm.h"
#include <thread>
#include <vector>

static void keep_full(work_log *log, double end, int n)
{
	hipStream_t stream;
	hipEvent_t done[2];

	CHECK(hipStreamCreate(&stream));
	for (hipEvent_t &e : done)
		CHECK(hipEventCreateWithFlags(&e, hipEventBlockingSync | hipEventDisableTiming));
	matrices m(n);
	m.launch(stream);
	CHECK(hipEventRecord(done[0], stream));
	// always one more in the queue than the one waited for
	for (int i = 1; now_ms() < end; i++) {
		double due = now_ms();

		m.launch(stream);
		CHECK(hipEventRecord(done[i & 1], stream));
		CHECK(hipEventSynchronize(done[(i - 1) & 1]));
		log->add(due, now_ms());
	}
	CHECK(hipStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: offline LOG SECONDS STREAMS N\n");
		return 2;
	}
	work_log log(argv[1]);
	int secs = number(argv[2], "SECONDS", 1, 3600), streams = number(argv[3], "STREAMS", 1, 16);
	int n = number(argv[4], "N", TILE, 65536) / TILE * TILE;
	std::vector<std::thread> threads;

	CHECK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	{
		matrices m(n);

		m.launch(0);	// loads the code object
		CHECK(hipDeviceSynchronize());
	}
	printf("ready\n");
	fflush(stdout);

	double end = now_ms() + secs * 1000.0;
	for (int i = 0; i < streams; i++)
		threads.emplace_back(keep_full, &log, end, n);
	for (std::thread &t : threads)
		t.join();
	return 0;
}
