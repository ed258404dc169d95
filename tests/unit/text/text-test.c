// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/lib/text.c and message.c, and of what is printed through them. */
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

#include "fixture.h"

/* By the C library, not by the function that is tested: characters that act, and bytes that are none. */
void test_harmless(const char *what, const char *text, const char *raw)
{
	static const wchar_t acting[] = L"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
					L"\u00ad\u200b\u2060\u2065\u2800\u3164\uffa0\U0001d173\U0001d17a\U0001bca0\U00016fe4\U000e0041";
	mbstate_t state = { 0 };
	const char *at = text;
	wchar_t wide;
	size_t len;

	while (*at) {
		len = mbrtowc(&wide, at, strlen(at), &state);
		if (len == (size_t)-1 || len == (size_t)-2)
			fail_msg("%s: no UTF-8 at byte %zu of '%s', made of '%s'", what, at - text, text, raw);
		if (wide < 0x20 || (wide >= 0x7f && wide < 0xa0) || iswcntrl(wide) || wcschr(acting, wide))
			fail_msg("%s: U+%04x at byte %zu of '%s', made of '%s'", what, (unsigned int)wide, at - text,
				 text, raw);
		at += len;
	}
}

/* Names that attack, and pieces of them beside each other; without a byte 0. */
void test_name(unsigned int *seed, char *name)
{
	static const char *const pieces[] = {
		"\033]0;title\007", "\033[2J", "\033", "\n", "\r", "\t", "\x7f", "\302\23331m", "\x9b", "\xc2", "\xff",
		"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80\xae", "\xe2\x81\xa6", "\xef\xbb\xbf", "\xe2\x80",
		"\xe2\x80\x8b", "\xe3\x85\xa4", "\xf0\x9d\x85\xb3", "\xf0\x9f\x98", "\xf0\x9f\x98\x80", "gr\xc3\xbcn", "\"", "\\", "'", "<", "</script>", "%s%n", ",", "a", " ",
		"\\x1b", "\\u001b",
	};
	char *at = name;

	while (at < name + NAME_BYTES - 16 && rand_r(seed) % 12) {
		if (rand_r(seed) % 4)
			at = stpcpy(at, pieces[rand_r(seed) % (sizeof(pieces) / sizeof(*pieces))]);
		else
			*at++ = 1 + rand_r(seed) % 255;
	}
	*at = '\0';
}

char *test_printed(FILE **stream, void (*print)(const char *raw), const char *raw)
{
	FILE *before = *stream;
	char *text = NULL;
	size_t size;

	*stream = open_memstream(&text, &size);
	assert_non_null(*stream);
	print(raw);
	fclose(*stream);
	*stream = before;
	return text;
}

int main(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		puts("1..0 # SKIP the locale C.UTF-8 is missing");
		return 0;
	}
	return escape_tests() + print_tests() != 0;
}
