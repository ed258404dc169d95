// SPDX-License-Identifier: GPL-2.0
/* What the tools print with foreign text in it: messages, lines, CSV, tables, JSON. */
#include <errno.h>
#include <json-c/json.h>

#include "fixture.h"
#include "json-out.h"
#include "list.h"
#include "message.h"
#include "oci.h"

static const char *const hostile[] = {
	"\033]0;title\007", "\033[2J", "a\nkfdprio: forged", "a\rb", "\302\23331m", "\23331m", "\xff\xfe", "\xe2\x80\xae",
	"\"quoted\", \\ and 'so'", "</script><script>alert(1)</script>", "%s%n", "gr\xc3\xbcn",
};

static void warnx_print(const char *raw)
{
	warnx("%s: is wrong", raw);
}

static void warn_print(const char *raw)
{
	errno = ENOENT;
	warn("%s", raw);
	assert_int_equal(errno, ENOENT);
}

static void line_print(const char *raw)
{
	text_line(stdout, "%s and %s", raw, raw);
}

/* getopt(3) finds no such option. */
static void option_print(const char *raw)
{
	static const struct option longs[] = { { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 } };
	static char program[] = "program";
	char word[NAME_BYTES + 3];
	char *argv[] = { program, word, NULL };

	snprintf(word, sizeof(word), "--x%s", raw);
	optind = 0;
	assert_int_equal(option_next(2, argv, "h", longs), '?');
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	(void)row;
	(void)column;
	list_text(value, context);
}

static void list(const char *raw, struct list_choice choice)
{
	static const struct list_column columns[] = { { "NAME", "name", LIST_TEXT, LIST_EVERYWHERE } };
	struct list list = { .columns = columns, .nr_columns = 1, .nr_rows = 1, .value = cell,
			     .context = (void *)raw, .choice = &choice };

	list_print(&list);
}

static void csv_print(const char *raw)
{
	list(raw, (struct list_choice){ .csv = true, .noheadings = true });
}

static void table_print(const char *raw)
{
	list(raw, (struct list_choice){ .noheadings = true });
}

static void raw_print(const char *raw)
{
	list(raw, (struct list_choice){ .raw = true, .noheadings = true });
}

static void json_print(const char *raw)
{
	json_stdout(JSON_LINE);
	json_text("name", raw);
	json_stdout_end();
}

static void page_print(const char *raw)
{
	json_begin(stdout, JSON_LINE);
	json_in_page(true);
	json_open(NULL, '{');
	json_text("name", raw);
	json_close('}');
	assert_int_equal(json_end(), 0);
}

static void one_line(const char *what, void (*print)(const char *raw), FILE **stream, const char *raw)
{
	char *text = test_printed(stream, print, raw), *end;

	end = strchr(text, '\n');
	if (!end || end[1])
		fail_msg("%s: not one line: '%s'", what, text);
	*end = '\0';
	test_harmless(what, text, raw);
	free(text);
}

static void all_lines(const char *raw)
{
	one_line("warnx()", warnx_print, &stderr, raw);
	one_line("warn()", warn_print, &stderr, raw);
	one_line("option_next()", option_print, &stderr, raw);
	one_line("text_line()", line_print, &stdout, raw);
	one_line("CSV", csv_print, &stdout, raw);
	one_line("table", table_print, &stdout, raw);
	one_line("--raw", raw_print, &stdout, raw);
	one_line("JSON", json_print, &stdout, raw);
	one_line("page", page_print, &stdout, raw);
}

static void test_hostile(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		all_lines(hostile[i]);
}

static void test_random(void **state)
{
	unsigned int seed = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : 1;
	unsigned int steps = getenv("STEPS") ? strtoul(getenv("STEPS"), NULL, 0) / 20 : 1000;
	char name[NAME_BYTES];

	(void)state;
	while (steps--) {
		test_name(&seed, name);
		all_lines(name);
	}
}

/* What is read again is what was written, but for bytes that are no UTF-8; a page is not ended. */
static void test_json(void **state)
{
	struct json_object *document, *name;
	char *text, *utf8;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		text = test_printed(&stdout, page_print, hostile[i]);
		assert_null(strchr(text, '<'));
		document = json_tokener_parse(text);
		assert_true(json_object_object_get_ex(document, "name", &name));
		utf8 = text_utf8(hostile[i]);
		assert_string_equal(json_object_get_string(name), utf8);
		free(utf8);
		json_object_put(document);
		free(text);
	}
}

/* A cell ends with a whole character, wherever it is cut. */
static void test_cell(void **state)
{
	struct list_value value = { .kind = LIST_TEXT };
	char name[64], text[LIST_CELL];
	size_t size, i;

	(void)state;
	for (i = 0; i + 3 < sizeof(name); i += 3)
		memcpy(name + i, "\xe4\xb8\xad", 3);
	name[i] = '\0';
	list_text(&value, name);
	value.known = true;
	for (size = 1; size < 70; size++) {
		list_cell(&value, text, size);
		test_harmless("cell", text, name);
	}
}

/* Of a container: ASCII, and short. */
static void test_container(void **state)
{
	char shown[4 * OCI_SHOWN + 4], name[2 * OCI_SHOWN];
	size_t i;

	(void)state;
	memset(name, '\033', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	oci_show(shown, name);
	assert_int_equal(strlen(shown), sizeof(shown) - 1);
	assert_string_equal(shown + 4 * OCI_SHOWN, "...");
	name[OCI_SHOWN] = '\0';
	oci_show(shown, name);
	assert_int_equal(strlen(shown), 4 * OCI_SHOWN);
	for (i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		oci_show(shown, hostile[i]);
		test_harmless("oci_show()", shown, hostile[i]);
		assert_null(strstr(shown, "\xc3"));
	}
}

int print_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_random), cmocka_unit_test(test_json),
		cmocka_unit_test(test_cell), cmocka_unit_test(test_container),
	};

	return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
