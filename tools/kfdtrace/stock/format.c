// SPDX-License-Identifier: GPL-2.0
/*
 * Formats of the events of --driver=stock, as tracefs would give them: this driver has no events/kfd/, and
 * tracefs belongs to root.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "stock.h"

#define PAGE_HEAD 16

struct field {
	const char *type, *name, *print;
	size_t offset, size;
	bool is_signed;
};

struct format {
	const char *name;
	unsigned int id;
	const struct field *fields;
	size_t nr;
};

#define TYPE_u32 "u32", "%u", false
#define TYPE_s32 "s32", "%d", true
#define TYPE_u64 "u64", "%llu", false
#define TYPE_i32 "u32", "%d", false
#define TYPE_x32 "u32", "0x%x", false
#define TYPE_x64 "u64", "0x%llx", false
#define FIELD_(event, type_, print_, signed_, name_)                            \
	{ .type = (type_), .name = #name_, .print = (print_), .is_signed = (signed_), \
	  .offset = offsetof(struct event, name_), .size = sizeof(((struct event *)0)->name_) },
#define FIELD_EXPAND(...) FIELD_(__VA_ARGS__)
#define FIELD(kind, name) FIELD_EXPAND(CURRENT, TYPE_##kind, name)

/* One array for each event; CURRENT is its structure. */
#define CURRENT kfd_ioctl_create_queue
static const struct field fields_kfd_ioctl_create_queue[] = { STOCK_FIELDS_kfd_ioctl_create_queue(FIELD) };
#undef CURRENT
#define CURRENT kfd_create_queue
static const struct field fields_kfd_create_queue[] = { STOCK_FIELDS_kfd_create_queue(FIELD) };
#undef CURRENT
#define CURRENT kfd_destroy_queue
static const struct field fields_kfd_destroy_queue[] = { STOCK_FIELDS_kfd_destroy_queue(FIELD) };
#undef CURRENT
#define CURRENT kfd_update_queue
static const struct field fields_kfd_update_queue[] = { STOCK_FIELDS_kfd_update_queue(FIELD) };
#undef CURRENT
#define CURRENT kfd_init_mqd
static const struct field fields_kfd_init_mqd[] = { STOCK_FIELDS_kfd_init_mqd(FIELD) };
#undef CURRENT
#define CURRENT kfd_map_queues
static const struct field fields_kfd_map_queues[] = { STOCK_FIELDS_kfd_map_queues(FIELD) };
#undef CURRENT
#define CURRENT kfd_map_queue
static const struct field fields_kfd_map_queue[] = { STOCK_FIELDS_kfd_map_queue(FIELD) };
#undef CURRENT
#define CURRENT kfd_unmap_queues
static const struct field fields_kfd_unmap_queues[] = { STOCK_FIELDS_kfd_unmap_queues(FIELD) };
#undef CURRENT
#define CURRENT kfd_unmap_queues_done
static const struct field fields_kfd_unmap_queues_done[] = { STOCK_FIELDS_kfd_unmap_queues_done(FIELD) };
#undef CURRENT
#define CURRENT kfd_evict_process
static const struct field fields_kfd_evict_process[] = { STOCK_FIELDS_kfd_evict_process(FIELD) };
#undef CURRENT
#define CURRENT kfd_restore_process
static const struct field fields_kfd_restore_process[] = { STOCK_FIELDS_kfd_restore_process(FIELD) };
#undef CURRENT
#define CURRENT kfd_hws_hang
static const struct field fields_kfd_hws_hang[] = { STOCK_FIELDS_kfd_hws_hang(FIELD) };
#undef CURRENT

#define FORMAT(event) \
	{ #event, STOCK_ID_##event, fields_##event, sizeof(fields_##event) / sizeof(*fields_##event) },
static const struct format formats[] = { STOCK_EVENTS(FORMAT) };

/**
 * stock_header_page() - the head of a page of events
 * @page_size: bytes of a page
 *
 * Return: the text, to be freed with free(3), or NULL.
 */
char *stock_header_page(size_t page_size)
{
	char *text;

	if (asprintf(&text,
		     "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		     "\tfield: char data;\toffset:%d;\tsize:%zu;\tsigned:1;\n",
		     PAGE_HEAD, page_size - PAGE_HEAD) < 0)
		return NULL;
	return text;
}

/**
 * stock_header_event() - the head of an event in a page
 *
 * Return: the text.
 */
const char *stock_header_event(void)
{
	return "# compressed entry header\n"
	       "\ttype_len    :    5 bits\n"
	       "\ttime_delta  :   27 bits\n"
	       "\tarray       :   32 bits\n"
	       "\n"
	       "\tpadding     : type == 29\n"
	       "\ttime_extend : type == 30\n"
	       "\ttime_stamp : type == 31\n"
	       "\tdata max type_len  == 28\n";
}

/**
 * stock_formats() - how many events there are
 *
 * Return: their number.
 */
unsigned int stock_formats(void)
{
	return sizeof(formats) / sizeof(*formats);
}

/**
 * stock_format() - the format of an event, as in its file "format"
 * @n: which, below stock_formats()
 *
 * Return: the text, to be freed with free(3), or NULL.
 */
char *stock_format(unsigned int n)
{
	const struct format *format = &formats[n];
	const struct field *field;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fprintf(file,
		"name: %s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		format->name, format->id);
	for (field = format->fields; field < format->fields + format->nr; field++)
		fprintf(file, "\tfield:%s %s;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n", field->type, field->name,
			field->offset, field->size, field->is_signed);
	fprintf(file, "\nprint fmt: \"");
	for (field = format->fields; field < format->fields + format->nr; field++)
		fprintf(file, "%s%s=%s", field == format->fields ? "" : " ", field->name, field->print);
	fputc('"', file);
	for (field = format->fields; field < format->fields + format->nr; field++)
		fprintf(file, ", REC->%s", field->name);
	fputc('\n', file);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}
