// SPDX-License-Identifier: GPL-2.0
/* For programs with the leak sanitizer: libtraceevent forgets to free what it cannot parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so\nleak:tep_parse_\n";
}

const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
