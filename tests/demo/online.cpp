// SPDX-License-Identifier: GPL-2.0
// The online client: RATE requests per second, each LAYERS small matrix products one after
// the other, as the layers of a model; logs the latency of each, from when it was due.
//
//	online LOG SECONDS RATE LAYERS N
#include "gemm.h"
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: online LOG SECONDS RATE LAYERS N\n");
		return 2;
	}
	work_log log(argv[1]);
	int secs = number(argv[2], "SECONDS", 1, 3600), rate = number(argv[3], "RATE", 1, 1000);
	int layers = number(argv[4], "LAYERS", 1, 1000);
	int n = number(argv[5], "N", TILE, 65536) / TILE * TILE;
	hipStream_t stream;

	CHECK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	CHECK(hipStreamCreate(&stream));
	matrices m(n);
	m.launch(stream);	// loads the code object
	CHECK(hipStreamSynchronize(stream));
	printf("ready\n");
	fflush(stdout);

	double start = now_ms();
	for (int i = 0; i < secs * rate; i++) {
		double due = start + i * 1000.0 / rate, wait = due - now_ms();

		if (wait > 0)
			usleep(wait * 1000);
		for (int layer = 0; layer < layers; layer++)
			m.launch(stream);
		CHECK(hipStreamSynchronize(stream));
		log.add(due, now_ms());
	}
	return 0;
}
