// SPDX-License-Identifier: GPL-2.0
/* Where the fields of an event are: what a file says of it is believed within bounds only. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "model/events.h"

static struct kfd_decoder decoder;

/* What kfd_decoder_init() says of a file that has one event, whose last field is there. */
static int resolve_signed(const char *name, int id, int offset, int size, bool is_signed)
{
	struct tep_handle *tep = tep_alloc();
	char text[1024];
	int len, ret;

	assert_non_null(tep);
	len = snprintf(text, sizeof(text),
		       "name: %s\nID: %d\nformat:\n"
		       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		       "\tfield:u32 gpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
		       "\tfield:u32 processes;\toffset:12;\tsize:4;\tsigned:0;\n"
		       "\tfield:%s queues;\toffset:%d;\tsize:%d;\tsigned:%d;\n\nprint fmt: \"\"\n",
		       name, id, is_signed ? "int" : "u32", offset, size, is_signed);
	assert_int_equal(tep_parse_event(tep, text, len, "kfd"), 0);
	ret = kfd_decoder_init(&decoder, tep);
	tep_free(tep);
	return ret;
}

static int resolve(const char *name, int id, int offset, int size)
{
	return resolve_signed(name, id, offset, size, false);
}

static void offset_of_a_field(void **state)
{
	(void)state;
	assert_int_equal(resolve("kfd_hws_hang", 1, 16, 4), 1);
	assert_int_equal(resolve("kfd_hws_hang", 1, 4096, 8), 1);
	assert_int_equal(resolve("kfd_hws_hang", 1, 4097, 4), -EPROTO);
	/* as 16 bits it would be 16 */
	assert_int_equal(resolve("kfd_hws_hang", 1, 65536 + 16, 4), -EPROTO);
	assert_int_equal(resolve("kfd_hws_hang", 1, 0x7fffffff, 4), -EPROTO);
	assert_int_equal(resolve("kfd_hws_hang", 1, -8, 4), -EPROTO);
}

static void size_of_a_field(void **state)
{
	int size;

	(void)state;
	for (size = 0; size <= 16; size++)
		assert_int_equal(resolve("kfd_hws_hang", 1, 16, size),
				 size == 4 || size == 8 ? 1 : -EPROTO);
}

static void number_of_an_event(void **state)
{
	(void)state;
	assert_int_equal(resolve("kfd_hws_hang", 65535, 16, 4), 1);
	assert_int_equal(decoder.type_of[65535], EV_HWS_HANG);
	assert_int_equal(resolve("kfd_hws_hang", 65536, 16, 4), 0);
	assert_int_equal(resolve("kfd_of_tomorrow", 1, 16, 4), 0);
}

static void sign_of_a_field(void **state)
{
	const int32_t record[5] = { 1, 0, -1, -2, -3 };
	struct kfd_event event;

	(void)state;
	assert_int_equal(resolve("kfd_hws_hang", 1, 16, 4), 1);
	assert_int_equal(kfd_decode(&decoder, record, sizeof(record), &event), 1);
	assert_int_equal(event.v[F_GPU_ID], 0xffffffff);
	assert_int_equal(event.v[F_QUEUES], 0xfffffffd);
	assert_int_equal(resolve_signed("kfd_hws_hang", 1, 16, 4, true), 1);
	/* -3 queues are impossible */
	assert_int_equal(kfd_decode(&decoder, record, sizeof(record), &event), -EPROTO);
	assert_true(event.v[F_QUEUES] == -3);
}

/* A record is read to its end, and none that ends earlier. */
static void end_of_a_record(void **state)
{
	unsigned char record[4104] = { 1 };
	struct kfd_event event;
	unsigned int size;

	(void)state;
	assert_int_equal(resolve("kfd_hws_hang", 1, 4096, 8), 1);
	memset(record + 4096, 0x55, 8);
	assert_int_equal(kfd_decode(&decoder, record, sizeof(record), &event), 1);
	assert_int_equal(event.type, EV_HWS_HANG);
	assert_int_equal(event.v[F_QUEUES], 0x5555555555555555);
	for (size = 0; size < sizeof(record); size++)
		assert_int_equal(kfd_decode(&decoder, record, size, &event), -EPROTO);
	record[0] = 2;
	assert_int_equal(kfd_decode(&decoder, record, 8, &event), 0);
}

int run_events(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_of_a_field),
		cmocka_unit_test(size_of_a_field),
		cmocka_unit_test(number_of_an_event),
		cmocka_unit_test(sign_of_a_field),
		cmocka_unit_test(end_of_a_record),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
