// SPDX-License-Identifier: GPL-2.0
/* text_escape(): what becomes \xNN, and what stays. */
#include <locale.h>

#include "fixture.h"

static const struct {
	const char *raw, *utf8, *ascii;
} cases[] = {
	{ "", "", "" },
	{ "plain text", "plain text", "plain text" },
	{ "\033]0;x\007", "\\x1b]0;x\\x07", "\\x1b]0;x\\x07" },
	{ "a\nb\rc\td\x7f", "a\\x0ab\\x0dc\\x09d\\x7f", "a\\x0ab\\x0dc\\x09d\\x7f" },
	/* C1: as a byte, and in UTF-8 */
	{ "\2332J", "\\x9b2J", "\\x9b2J" },
	{ "\302\2332J", "\\xc2\\x9b2J", "\\xc2\\x9b2J" },
	{ "\xc2\xa0", "\xc2\xa0", "\\xc2\\xa0" },
	/* bidi */
	{ "\342\200\256x", "\\xe2\\x80\\xaex", "\\xe2\\x80\\xaex" },
	{ "\xe2\x81\xa9", "\\xe2\\x81\\xa9", "\\xe2\\x81\\xa9" },
	{ "\xd8\x9c", "\\xd8\\x9c", "\\xd8\\x9c" },
	/* overlong, a surrogate, beyond the last, cut */
	{ "\xc0\x9b", "\\xc0\\x9b", "\\xc0\\x9b" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80" },
	{ "a\xe2\x80", "a\\xe2\\x80", "a\\xe2\\x80" },
	/* invisible tags */
	{ "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "\\xf3\\xa0\\x81\\x81" },
	/* what is printable stays */
	{ "gr\xc3\xbcn \xe4\xb8\xad \xf0\x9f\x98\x80", "gr\xc3\xbcn \xe4\xb8\xad \xf0\x9f\x98\x80",
	  "gr\\xc3\\xbcn \\xe4\\xb8\\xad \\xf0\\x9f\\x98\\x80" },
	{ "\\ \" ' <", "\\ \" ' <", "\\ \" ' <" },
};

static void escaped(const char *raw, enum text_charset charset, const char *want)
{
	char *text = text_escape(raw, charset), *again;

	assert_non_null(text);
	assert_string_equal(text, want);
	again = text_escape(text, charset);
	assert_non_null(again);
	assert_string_equal(again, want);
	free(again);
	free(text);
}

static void test_cases(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		escaped(cases[i].raw, TEXT_UTF8, cases[i].utf8);
		escaped(cases[i].raw, TEXT_LOCALE, cases[i].utf8);
		escaped(cases[i].raw, TEXT_ASCII, cases[i].ascii);
	}
}

static void test_locale(void **state)
{
	size_t i;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C"));
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		escaped(cases[i].raw, TEXT_LOCALE, cases[i].ascii);
		/* a file is not the terminal's */
		escaped(cases[i].raw, TEXT_UTF8, cases[i].utf8);
	}
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
}

/* A text is cut between characters, at each length. */
static void test_copy(void **state)
{
	static const char text[] = "a\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80z";
	static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
	char copy[16];
	size_t size;

	(void)state;
	for (size = 1; size <= sizeof(whole) / sizeof(*whole); size++) {
		memset(copy, 'x', sizeof(copy));
		text_copy(copy, size, text);
		assert_int_equal(strlen(copy), whole[size - 1]);
		assert_memory_equal(copy, text, whole[size - 1]);
	}
}

/* The width is that of the escaped text. */
static void test_width(void **state)
{
	char *text = text_printable("\033[2J\xe4\xb8\xad\xc3\xbc");

	(void)state;
	assert_non_null(text);
	assert_int_equal(text_width(text), 4 + 3 + 2 + 1);
	free(text);
}

static void test_random(void **state)
{
	static const enum text_charset charsets[] = { TEXT_LOCALE, TEXT_UTF8, TEXT_ASCII };
	unsigned int seed = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : 1;
	unsigned int steps = getenv("STEPS") ? strtoul(getenv("STEPS"), NULL, 0) : 20000, i;
	char name[NAME_BYTES], *text, *again;
	size_t c;

	(void)state;
	while (steps--) {
		test_name(&seed, name);
		for (c = 0; c < sizeof(charsets) / sizeof(*charsets); c++) {
			text = text_escape(name, charsets[c]);
			assert_non_null(text);
			test_harmless("text_escape()", text, name);
			for (i = 0; charsets[c] == TEXT_ASCII && text[i]; i++)
				assert_true(text[i] >= ' ' && text[i] <= '~');
			again = text_escape(text, charsets[c]);
			assert_non_null(again);
			assert_string_equal(again, text);
			free(again);
			free(text);
		}
	}
}

int escape_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_locale), cmocka_unit_test(test_copy),
		cmocka_unit_test(test_width), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
